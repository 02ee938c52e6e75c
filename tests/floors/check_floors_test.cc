// SPDX-License-Identifier: Apache-2.0
// Plants one breach at a time in a small tree and asks for the line that check_floors prints.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <sys/wait.h>

namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

constexpr const char* kSpdx = "// SPDX-License-Identifier: Apache-2.0\n";

class CheckFloors : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string name = (fs::temp_directory_path() / "check_floors_XXXXXX").string();
    ASSERT_NE(mkdtemp(name.data()), nullptr);
    root_ = name;
    write("FLOORS", "# a small house\n0 base: ; fmt\n1 record: base ; json\n1 stats: base\n2 task: base record\n");
    write("src/base/error.h", std::string(kSpdx) + "#pragma once\n");
    write("src/record/task.h", std::string(kSpdx) + "#pragma once\n#include \"base/error.h\"\n");
    write("src/record/task.cc", std::string(kSpdx) + "#include \"record/task.h\"\n#include <vector>\n");
    write("src/record/task_test.cc", std::string(kSpdx) + "#include \"record/task.h\"\n");
  }
  void TearDown() override { fs::remove_all(root_); }

  void write(const std::string& path, const std::string& text) {
    fs::create_directories((root_ / path).parent_path());
    std::ofstream(root_ / path) << text;
  }
  // The exit code; what was printed goes to output_.
  int check() {
    const std::string command = std::string(WHET_BINARY_DIR) + "/tools/check_floors " + root_.string() + " 2>&1";
    FILE* pipe = popen(command.c_str(), "r");
    char buffer[4096];
    output_.clear();
    while (fgets(buffer, sizeof buffer, pipe)) output_ += buffer;
    return WEXITSTATUS(pclose(pipe));
  }

  fs::path root_;
  std::string output_;
};

TEST_F(CheckFloors, AcceptsACleanTree) {
  EXPECT_EQ(check(), 0) << output_;
  EXPECT_THAT(output_, HasSubstr("4 files keep the rules"));
}

TEST_F(CheckFloors, NamesTheLineThatIncludesUpwards) {
  write("src/base/error.cc", std::string(kSpdx) + "#include \"base/error.h\"\n\n#include \"record/task.h\"\n");
  EXPECT_EQ(check(), 1);
  EXPECT_EQ(output_, "src/base/error.cc:4: base may not include record (FLOORS: nothing)\n");
}

TEST_F(CheckFloors, RefusesASidewaysIncludeThatIsNotListed) {
  write("src/stats/summary.h", std::string(kSpdx) + "#pragma once\n");
  write("src/task/load.cc", std::string(kSpdx) + "#include \"stats/summary.h\"\n");
  EXPECT_EQ(check(), 1);
  EXPECT_EQ(output_, "src/task/load.cc:2: task may not include stats (FLOORS: base record)\n");
}

TEST_F(CheckFloors, RefusesAFloorThatListsItsOwnHeight) {
  write("FLOORS", "0 base:\n1 record: base stats\n1 stats: base record\n");
  EXPECT_EQ(check(), 1);
  EXPECT_THAT(output_, HasSubstr("FLOORS:2: record (floor 1) may not list stats (floor 1): only lower floors"));
  EXPECT_THAT(output_, HasSubstr("FLOORS:3: stats (floor 1) may not list record (floor 1): only lower floors"));
}

TEST_F(CheckFloors, RefusesUnknownFoldersAndLines) {
  write("FLOORS", "0 base:\n1 record: base attic\nnonsense\n1 record: base\n");
  EXPECT_EQ(check(), 1);
  EXPECT_THAT(output_, HasSubstr("FLOORS:2: record lists attic, which has no line of its own"));
  EXPECT_THAT(output_, HasSubstr("FLOORS:3: expected 'HEIGHT FOLDER: folders ; libraries', found 'nonsense'"));
  EXPECT_THAT(output_, HasSubstr("FLOORS:4: record stands here for the second time"));
}

TEST_F(CheckFloors, RefusesAFolderWithoutALine) {
  write("src/attic/box.cc", kSpdx);
  EXPECT_EQ(check(), 1);
  EXPECT_EQ(output_, "src/attic/box.cc:1: the folder attic has no line in FLOORS\n");
}

TEST_F(CheckFloors, RefusesIncludesThatAreNotRelativeToSrc) {
  write("src/record/goal.cc", std::string(kSpdx) + "#include \"task.h\"\n#include \"record/gaol.h\"\n");
  EXPECT_EQ(check(), 1);
  EXPECT_THAT(output_, HasSubstr("src/record/goal.cc:2: \"task.h\": write an include relative to src/, as \"record/task.h\""));
  EXPECT_THAT(output_, HasSubstr("src/record/goal.cc:3: \"record/gaol.h\" does not exist"));
}

TEST_F(CheckFloors, RefusesEmptyNames) {
  write("src/record/string_utils.cc", kSpdx);
  write("src/record/CamelCase.cc", kSpdx);
  EXPECT_EQ(check(), 1);
  EXPECT_THAT(output_, HasSubstr("src/record/string_utils.cc:1: 'utils' says nothing"));
  EXPECT_THAT(output_, HasSubstr("src/record/CamelCase.cc:1: file names are snake_case"));
}

TEST_F(CheckFloors, RefusesATestWithoutItsSource) {
  write("src/record/lonely_test.cc", kSpdx);
  EXPECT_EQ(check(), 1);
  EXPECT_THAT(output_, HasSubstr("src/record/lonely_test.cc:1: a test stands beside its source, and there is neither lonely.cc nor .h"));
}

TEST_F(CheckFloors, AcceptsATestOfAWholeFolder) {
  write("src/record/record_test.cc", kSpdx);
  EXPECT_EQ(check(), 0) << output_;
}

TEST_F(CheckFloors, TextInRawStringsIsNoCode) {
  write("src/record/quoted.cc", std::string(kSpdx) + "const char* a = R\"(\n#include \"up/there.h\"\nputs();\n)\";\n#include \"task/x.h\"\n");
  EXPECT_EQ(check(), 1);
  EXPECT_EQ(output_, "src/record/quoted.cc:6: record may not include task (FLOORS: base)\n");
}

TEST_F(CheckFloors, RefusesMissingLicenceAndGuard) {
  write("src/base/bare.h", "// nothing\n");
  EXPECT_EQ(check(), 1);
  EXPECT_THAT(output_, HasSubstr("src/base/bare.h:1: the first line must hold 'SPDX-License-Identifier: Apache-2.0'"));
  EXPECT_THAT(output_, HasSubstr("src/base/bare.h:1: a header needs #pragma once"));
}

TEST_F(CheckFloors, LetsOnlyFacesAndProgramsPrint) {
  const std::string loud = std::string(kSpdx) + "// printf(\"a comment is no breach\");\nvoid f() { std::printf(\"x\"); }\nvoid g(char* b) { snprintf(b, 1, \"x\"); }\n";
  write("src/record/loud.cc", loud);
  write("src/record/main.cc", loud);
  EXPECT_EQ(check(), 1);
  EXPECT_EQ(output_, "src/record/loud.cc:3: only src/face and main.cc print, read the environment or exit; found 'printf('\n");
}

TEST_F(CheckFloors, RefusesEndlessFiles) {
  std::string text = kSpdx;
  for (int i = 0; i < 700; ++i) text += "int x;\n";
  write("tools/endless.cc", text);
  EXPECT_EQ(check(), 1);
  EXPECT_THAT(output_, HasSubstr("tools/endless.cc:701: longer than 700 lines: split it"));
}

TEST_F(CheckFloors, NeedsFloors) {
  fs::remove(root_ / "FLOORS");
  EXPECT_EQ(check(), 2);
  EXPECT_THAT(output_, HasSubstr("there is no FLOORS"));
}

}  // namespace
