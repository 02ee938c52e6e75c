// SPDX-License-Identifier: Apache-2.0
#include "truth/build/object_cache.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace whet {
namespace {

using testing::ElementsAre;

TEST(Depfile, IsReadWithItsEscapes) {
  EXPECT_THAT(depfile_paths("o.o: a.cc b\\ c.h \\\n /usr/include/x.h d$$.h\n\nb.h:\n"),
              ElementsAre("a.cc", "b c.h", "/usr/include/x.h", "d$.h"));
  EXPECT_THAT(depfile_paths(""), ElementsAre());
  const auto made_from =
      ingredients({"./a.cc", "x/../b.h", "/usr/include/x.h"}, {{"a.cc", "1"}, {"b.h", "2"}, {"c.h", "3"}});
  ASSERT_TRUE(made_from);
  EXPECT_EQ(made_from->headers, (std::map<std::string, std::string>{{"a.cc", "1"}, {"b.h", "2"}}));
  EXPECT_THAT(made_from->system, ElementsAre("/usr/include/x.h"));
  EXPECT_FALSE(ingredients({"unknown.h"}, {}));
}

}  // namespace
}  // namespace whet
