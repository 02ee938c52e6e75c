// SPDX-License-Identifier: Apache-2.0
// docs/verdicts.md and record/verdict.cc must say the same, in the same order.
#include <gtest/gtest.h>

#include <fstream>
#include <regex>
#include <string>
#include <vector>

#include "record/verdict.h"

namespace {

struct Section {
  int code = -1;
  std::string name;
  std::string text;
};

// "### 202 input_written" begins the section of a code; any other heading ends it.
std::vector<Section> read_sections() {
  std::ifstream in(std::string(WHET_SOURCE_DIR) + "/docs/verdicts.md");
  EXPECT_TRUE(in.is_open());
  const std::regex heading(R"(### (\d+) ([a-z_]+))");
  std::vector<Section> sections;
  bool inside = false;
  for (std::string line; std::getline(in, line);) {
    std::smatch match;
    if (std::regex_match(line, match, heading)) {
      sections.push_back({std::stoi(match[1]), match[2], ""});
      inside = true;
    } else if (!line.empty() && line[0] == '#') {
      inside = false;
    } else if (inside) {
      sections.back().text += line + "\n";
    }
  }
  return sections;
}

TEST(Verdicts, EveryCodeHasItsSectionAndEverySectionItsCode) {
  std::vector<std::string> documented, known;
  for (const Section& section : read_sections()) documented.push_back(std::to_string(section.code) + " " + section.name);
  for (const whet::CodeRow& row : whet::all_codes()) known.push_back(std::to_string(static_cast<int>(row.code)) + " " + std::string(row.name));
  EXPECT_EQ(documented, known);
}

TEST(Verdicts, ASectionSaysMeaningEvidenceAndWhatToDo) {
  const auto codes = whet::all_codes();
  const auto sections = read_sections();
  ASSERT_EQ(sections.size(), codes.size());
  for (std::size_t i = 0; i < sections.size(); ++i) {
    const std::string& text = sections[i].text;
    EXPECT_NE(text.find("\n**Meaning.** " + std::string(codes[i].meaning) + "."), std::string::npos)
        << sections[i].name << ": docs must give the meaning in the words of record/verdict.cc: " << codes[i].meaning;
    EXPECT_NE(text.find("\n**Evidence.** "), std::string::npos) << sections[i].name;
    EXPECT_NE(text.find("\n**What to do.** "), std::string::npos) << sections[i].name;
  }
}

TEST(Verdicts, TheHundredsAreTheClassesOfTheIntroduction) {
  std::ifstream in(std::string(WHET_SOURCE_DIR) + "/docs/verdicts.md");
  const std::string all((std::istreambuf_iterator<char>(in)), {});
  for (const char* heading : {"## 1xx ", "## 2xx ", "## 3xx ", "## 4xx ", "## 5xx "}) EXPECT_NE(all.find(heading), std::string::npos) << heading;
}

}  // namespace
