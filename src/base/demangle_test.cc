// SPDX-License-Identifier: Apache-2.0
#include "base/demangle.h"

#include <gtest/gtest.h>

namespace whet {
namespace {

TEST(Demangled, NamesWhatIsASymbol) {
  EXPECT_EQ(demangled("_Z5scalePfi"), "scale(float*, int)");
  EXPECT_EQ(demangled("plain"), "plain");
  EXPECT_EQ(demangled("_Znonsense"), "_Znonsense");
  EXPECT_EQ(demangled(""), "");
}

}  // namespace
}  // namespace whet
