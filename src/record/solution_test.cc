// SPDX-License-Identifier: Apache-2.0
#include "record/solution.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/json_impl.h"

namespace whet {
namespace {

using testing::ElementsAre;

constexpr const char* kGood =
    R"({"name": "n", "author": "a", "definition": "d1", "spec": {"language": "cpp", "target_hardware": ["cpu"],
  "entry_point": "entry.cc::whet_solution_v1", "dependencies": ["openblas"], "binding": "whet", "compile_options": {"cflags": ["-O3"], "ld_flags": []}},
  "sources": ["*.cc", "k/*.h"], "whet": {"definitions": ["d1", "d2"]}})";

Solution read(const std::string& manifest, std::vector<std::string>& complaints) {
  return solution_from_files({{"solution.json", manifest},
                              {"entry.cc", "int x;"},
                              {"k/a.h", "int y;"},
                              {"notes.txt", "no source"},
                              {"bad.bin", "\xff"}},
                             "s", complaints);
}

std::vector<std::string> complaints_with(const std::string& piece, const std::string& other) {
  std::string text = kGood;
  const std::size_t at = text.find(piece);
  EXPECT_NE(at, std::string::npos) << piece;
  text.replace(at, piece.size(), other);
  std::vector<std::string> complaints;
  read(text, complaints);
  return complaints;
}

TEST(Solution, ReadsAFolderAndIsReadBackInlined) {
  std::vector<std::string> complaints;
  const Solution solution = read(kGood, complaints);
  EXPECT_THAT(complaints, ElementsAre());
  EXPECT_EQ(solution.sources, (std::map<std::string, std::string>{{"entry.cc", "int x;"}, {"k/a.h", "int y;"}}));
  EXPECT_EQ(solution.definitions, (std::vector<std::string>{"d1", "d2"}));
  EXPECT_EQ(solution_from_files({{"solution.json", to_json(solution, "d2").dump()}}, "t", complaints), solution);
  EXPECT_THAT(complaints, ElementsAre());
}

TEST(Solution, HashesWhatCanChangeWhatRuns) {
  std::vector<std::string> complaints;
  const Solution solution = read(kGood, complaints);
  Solution other = solution;
  other.name = "m", other.description = "x", other.author = "y";
  EXPECT_EQ(solution_hash(other), solution_hash(solution));
  for (auto change : std::vector<void (*)(Solution&)>{
           [](Solution& s) { s.sources["entry.cc"] += " "; }, [](Solution& s) { s.cflags = {"-O2"}; },
           [](Solution& s) { s.dependencies.clear(); }, [](Solution& s) { s.definitions.pop_back(); },
           [](Solution& s) { s.cflags.clear(), s.ld_flags = {"-O3"}; }}) {
    other = solution;
    change(other);
    EXPECT_NE(solution_hash(other), solution_hash(solution));
  }
}

TEST(Solution, SaysWhatIsWrong) {
  struct Case {
    const char *piece, *other, *complaint;
  };
  for (const Case& c : {
           Case{"\"name\": \"n\"", "\"name\": 3", "name: expected a non-empty string, found 3"},
           {"\"cpp\"", "\"c++\"", "spec.language: unknown value \"c++\"; did you mean \"cpp\"?"},
           {"\"binding\": \"whet\"", "\"binding\": \"wet\"",
            "spec.binding: unknown value \"wet\"; did you mean \"whet\"?"},
           {"[\"cpu\"]", "[]", "spec.target_hardware: expected at least one name, such as \"cpu\""},
           {"entry.cc::whet_solution_v1", "entry.cc",
            "spec.entry_point: expected \"FILE::SYMBOL\", found \"entry.cc\""},
           {"entry.cc::whet_solution_v1", "entry.cpp::whet_solution_v1",
            "spec.entry_point: the file \"entry.cpp\" is not among the sources; did you mean \"entry.cc\"?"},
           {"whet_solution_v1", "run",
            "spec.entry_point: with binding \"whet\" the symbol is whet_solution_v1, found \"run\""},
           {"[\"-O3\"]", "\"-O3\"", "spec.compile_options.cflags: expected a list of strings, found \"-O3\""},
           {"\"*.cc\", \"k/*.h\"", "", "sources: expected at least one source, found none"},
           {"k/*.h", "k/*.hpp", "sources: no file of the folder matches \"k/*.hpp\""},
           {"\"k/*.h\"", "\"bad.bin\"", "sources: the source \"bad.bin\" is not UTF-8"},
           {"\"k/*.h\"", "{\"path\": \"../a.cc\", \"content\": \"x\"}",
            "sources: expected a path below the folder, relative and without \"..\", found \"../a.cc\""},
           {"\"k/*.h\"", "{\"path\": \"entry.cc\", \"content\": \"x\"}", "sources[1].path: \"entry.cc\" stands twice"},
           {"\"k/*.h\"", "7", "sources[1]: expected a glob (\"*.cc\") or {\"path\", \"content\"}, found 7"},
           {"[\"d1\", \"d2\"]", "[\"d2\"]", "whet.definitions: expected it to contain the definition \"d1\" too"},
           {"[\"d1\", \"d2\"]", "[\"d1\", \"d1\"]", "whet.definitions: \"d1\" stands twice"},
           {"\"definitions\"", "\"definition\"", "whet.definition: unknown key; did you mean \"definitions\"?"},
       })
    EXPECT_THAT(complaints_with(c.piece, c.other), testing::Contains("s/solution.json: " + std::string(c.complaint)))
        << c.other;
}

TEST(Solution, NeedsItsManifest) {
  std::vector<std::string> complaints;
  solution_from_files({{"entry.cc", ""}}, "s", complaints);
  solution_from_files({{"solution.json", "{"}}, "s", complaints);
  solution_from_files({{"solution.json", "[1]"}}, "s", complaints);
  EXPECT_THAT(complaints, ElementsAre("s: there is no solution.json in this folder",
                                      testing::StartsWith("s/solution.json: not JSON at line 1, column 2"),
                                      "s/solution.json: top level: expected an object, found [1]"));
}

}  // namespace
}  // namespace whet
