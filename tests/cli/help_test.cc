// SPDX-License-Identifier: Apache-2.0
// The help that one wants to read, and how fast it is there.
#include <algorithm>
#include <regex>

#include "tests/cli/run_whet.h"

namespace whet {
namespace {

using ::testing::HasSubstr;

class Help : public WhetTest {
 protected:
  std::vector<std::string> commands() {
    std::vector<std::string> names;
    const std::regex row(R"(\n  ([a-z]+( [a-z]+)?) {2,}\S)");
    const std::string text = whet({"--help"}).out;
    const std::string listing = text.substr(0, text.find("First steps"));
    for (std::sregex_iterator it(listing.begin(), listing.end(), row), end; it != end; ++it) names.push_back((*it)[1]);
    return names;
  }
};

TEST_F(Help, TheFirstScreenNamesEveryCommandAndTheExitCodes) {
  const ProcessResult result = whet({"--help"});
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_THAT(result.out, HasSubstr("Exit codes: 0 done, or the goal is met; 1 judged and short of the goal; 2 bad input; 3 the machine"));
  EXPECT_THAT(commands(), ::testing::IsSupersetOf({"task check", "task new", "task show", "task import", "header", "evaluate", "compare", "optimize",
                                                   "resume", "ledger list", "ledger show", "ledger export", "ledger check", "recheck", "machine", "demo",
                                                   "version"}));
  EXPECT_LE(std::count(result.out.begin(), result.out.end(), '\n'), 45) << "it fits on a screen";
}

TEST_F(Help, EveryCommandExplainsItself) {
  for (const std::string& name : commands()) {
    std::vector<std::string> words;
    std::istringstream in(name);
    for (std::string word; in >> word;) words.push_back(word);
    words.push_back("--help");
    const ProcessResult result = whet(words);
    EXPECT_EQ(result.exit_code, 0) << name;
    EXPECT_THAT(result.out, HasSubstr("Usage: whet " + name)) << name;
    EXPECT_EQ(result.err, "") << name;
  }
}

TEST_F(Help, HelpIsAlsoAWord) {
  EXPECT_EQ(whet({"help", "evaluate"}).out, whet({"evaluate", "--help"}).out);
  EXPECT_EQ(whet({}).out, whet({"--help"}).out);
  EXPECT_THAT(whet({"task", "--help"}).out, HasSubstr("whet task check"));
}

TEST_F(Help, StartsInUnderTwentyMilliseconds) {
#ifdef WHET_SANITIZED
  GTEST_SKIP() << "a sanitizer's own start is not what is measured";
#endif
  double best = 1;
  for (int i = 0; i < 20; ++i) best = std::min(best, whet({"--help"}).seconds);
  EXPECT_LT(best, 0.020) << "the fastest of twenty starts, process creation included";
}

TEST_F(Help, TheVersionIsTheBuildSystems) {
  std::ifstream in(std::string(WHET_SOURCE_DIR) + "/CMakeLists.txt");
  const std::string text{std::istreambuf_iterator<char>(in), {}};
  std::smatch match;
  ASSERT_TRUE(std::regex_search(text, match, std::regex(R"(project\(whet VERSION ([0-9.]+))")));
  EXPECT_EQ(whet({"version"}).out, "whet " + match[1].str() + "\n");
  EXPECT_EQ(whet({"--version"}).out, whet({"version"}).out);
}

}  // namespace
}  // namespace whet
