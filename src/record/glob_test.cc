// SPDX-License-Identifier: Apache-2.0
#include "record/glob.h"

#include <gtest/gtest.h>

#include <string>

namespace whet {
namespace {

TEST(Glob, MatchesWholePaths) {
  for (auto [pattern, path] : {std::pair{"*.cc", "entry.cc"},
                               {"kernels/*.h", "kernels/a.h"},
                               {"**/*.cc", "a/b/c.cc"},
                               {"**/*.cc", "c.cc"},
                               {"**", "a/b"},
                               {"a?c", "abc"},
                               {"entry.cc", "entry.cc"},
                               {"*", "x"},
                               {"a**c", "a/b/c"}})
    EXPECT_TRUE(glob_matches(pattern, path)) << pattern << " " << path;
  for (auto [pattern, path] : {std::pair{"*.cc", "a/entry.cc"},
                               {"*.cc", "entry.cc.o"},
                               {"a?c", "a/c"},
                               {"", "a"},
                               {"**/*.cc", "cc"},
                               {"kernels/*", "kernels"}})
    EXPECT_FALSE(glob_matches(pattern, path)) << pattern << " " << path;
  EXPECT_TRUE(glob_matches("", ""));
}

TEST(Glob, IsNotSlowOnHostilePatterns) {
  std::string pattern, path(2000, 'a');
  for (int i = 0; i < 1000; ++i) pattern += "*a";
  EXPECT_FALSE(glob_matches(pattern + "b", path));
}

}  // namespace
}  // namespace whet
