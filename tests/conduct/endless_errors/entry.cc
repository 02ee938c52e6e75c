// SPDX-License-Identifier: Apache-2.0
// Expands into errors of some 10 MB.
#include "operator.h"

#define TEN(x) x x x x x x x x x x
#define THOUSAND(x) TEN(TEN(TEN(x)))
void errors() { TEN(THOUSAND(this_name_is_declared_nowhere_and_is_rather_long_so_that_every_message_about_it_is_long_too = 1;)) }
