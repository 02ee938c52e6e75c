// SPDX-License-Identifier: Apache-2.0
#include "operator.h"

extern "C" WHET_EXPORT int something_else(void) { return 1; }
