// SPDX-License-Identifier: Apache-2.0
#include "face/cli/suggest.h"

#include <gtest/gtest.h>

namespace whet {
namespace {

TEST(Suggest, CountsEdits) {
  EXPECT_EQ(edit_distance("", ""), 0);
  EXPECT_EQ(edit_distance("evaluate", "evaluate"), 0);
  EXPECT_EQ(edit_distance("evalute", "evaluate"), 1);
  EXPECT_EQ(edit_distance("evlauate", "evaluate"), 1) << "a swap is one edit";
  EXPECT_EQ(edit_distance("", "abc"), 3);
  EXPECT_EQ(edit_distance("kitten", "sitting"), 3);
}

TEST(Suggest, NamesTheNearest) {
  const std::vector<std::string> names = {"attention-cpu", "rmsnorm-cpu"};
  EXPECT_EQ(did_you_mean("atention-cpu", names), "; did you mean 'attention-cpu'?");
  EXPECT_EQ(did_you_mean("attention", names), "; did you mean 'attention-cpu'?") << "a right beginning";
  EXPECT_EQ(did_you_mean("convolution", names), "");
  EXPECT_EQ(did_you_mean("x", {}), "");
}

TEST(Suggest, Lists) {
  EXPECT_EQ(listed({}), "none");
  EXPECT_EQ(listed({"a"}), "a");
  EXPECT_EQ(listed({"a", "b", "c"}), "a, b and c");
}

}  // namespace
}  // namespace whet
