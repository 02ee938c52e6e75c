// SPDX-License-Identifier: Apache-2.0
#include "record/definition.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/json_impl.h"

namespace whet {
namespace {

using testing::ElementsAre;

constexpr const char* kGood = R"({"name": "norm", "op_type": "rmsnorm", "description": null, "unknown": 1,
  "axes": {"rows": {"type": "var", "description": "r"}, "cols": {"type": "const", "value": 64}},
  "inputs": {"x": {"shape": ["rows", "cols"], "dtype": "bfloat16", "description": null}, "w": {"shape": ["cols"], "dtype": "float32"},
             "eps": {"shape": null, "dtype": "float32"}, "one": {"shape": [], "dtype": "int32"}},
  "outputs": {"y": {"shape": ["rows", "cols"], "dtype": "bfloat16"}},
  "reference": "import torch\ndef run(x, w, eps, one):\n  return x", "tags": null, "constraints": ["rows >= 1"],
  "whet": {"roles": {"w": "weight"}, "nan": "match"}})";

Definition read(const std::string& text, std::vector<std::string>& complaints) {
  return definition_from_json(*parse_json(text, "d.json"), "d.json", complaints);
}

TEST(Definition, ReadsWhatFlashInferWritesAndOurs) {
  std::vector<std::string> complaints;
  const Definition definition = read(kGood, complaints);
  EXPECT_THAT(complaints, ElementsAre());
  EXPECT_EQ(definition.input("w")->role, Role::weight);
  EXPECT_TRUE(definition.input("eps")->is_scalar());
  EXPECT_FALSE(definition.input("one")->is_scalar());
  EXPECT_EQ(definition.nan_policy, NanPolicy::match);
  EXPECT_EQ(axis_values(definition, {{"rows", 3}}), (std::vector<int64_t>{3, 64}));
  EXPECT_EQ(shape_of(definition, definition.outputs[0], {{"rows", 3}}), (std::vector<int64_t>{3, 64}));
  EXPECT_EQ(element_count(shape_of(definition, *definition.input("one"), {})), 1);
}

TEST(Definition, IsReadBackEqual) {
  std::vector<std::string> complaints;
  const Definition definition = read(kGood, complaints);
  EXPECT_EQ(read(to_json(definition).dump(), complaints), definition);
  EXPECT_THAT(complaints, ElementsAre());
}

TEST(Definition, SaysAllThatIsWrongAtOnce) {
  std::vector<std::string> complaints;
  read(
      R"({"name": "a/b", "axes": {"n": {"type": "const", "value": -1}, "m": {"type": "expr"}, "k": {"type": "vra"}, "1": {"type": "var"}},
           "inputs": {"x": {"shape": ["N", 3], "dtype": "float"}, "n": {"dtype": "int32"}, "s": {"shape": null, "dtype": "float8_e5m2"}},
           "outputs": {"x": {"shape": null, "dtype": "float32"}, "y": 3},
           "reference": "  def run(x): pass", "constraints": ["n %"], "tags": "x",
           "whet": {"role": {}, "nan": "maybe", "roles": {"X": "weight", "s": "weight", "x": "wait"}}})",
      complaints);
  EXPECT_THAT(
      complaints,
      ElementsAre("d.json: op_type: missing; expected a non-empty string",     //
                  "d.json: axes.n.value: expected an integer >= 0, found -1",  //
                  "d.json: axes.m.type: axes given by expressions (SOL-ExecBench) are not supported; make it \"var\" "
                  "and add a constraint",
                  "d.json: axes.k.type: expected \"const\" or \"var\", found \"vra\"",                       //
                  "d.json: axes.1: the name of an axis must be an identifier",                               //
                  "d.json: inputs.x.shape: the axis \"N\" is not declared under axes; did you mean \"n\"?",  //
                  "d.json: inputs.x.shape: expected names of axes, found 3",                                 //
                  "d.json: inputs.x.dtype: unknown dtype \"float\"; did you mean \"float64\"?",              //
                  "d.json: inputs.n.shape: missing; expected a list of axes, [] for one element, or null for a scalar "
                  "passed by value",
                  "d.json: outputs.y: expected an object, found 3",                                    //
                  "d.json: reference: expected Python source with a top-level \"def run(\"",           //
                  "d.json: tags: expected a list of strings, found \"x\"",                             //
                  "d.json: name: expected letters, digits and . _ + = - only, found \"a/b\"",          //
                  "d.json: outputs.x: an input has the same name",                                     //
                  "d.json: outputs.x.shape: an output cannot be a scalar; write [] for one element",   //
                  "d.json: inputs.n: an axis has the same name",                                       //
                  "d.json: inputs.s.dtype: a scalar cannot be float8_e5m2; use float32",               //
                  "d.json: constraints[0]: cannot read \"n %\": it ends where a value is expected",    //
                  "d.json: whet.role: unknown key; did you mean \"roles\"?",                           //
                  "d.json: whet.nan: expected \"forbid\" or \"match\", found \"maybe\"",               //
                  "d.json: whet.roles.X: there is no tensor input of this name; did you mean \"x\"?",  //
                  "d.json: whet.roles.s: there is no tensor input of this name; known: x",             //
                  "d.json: whet.roles.x: expected \"activation\", \"weight\", \"plan\" or \"inout\", found \"wait\""));
}

TEST(Definition, IsNoListAndHasOutputs) {
  std::vector<std::string> complaints;
  read("[]", complaints);
  read(R"({"name": "a", "op_type": "b", "axes": {}, "inputs": {}, "outputs": {}, "reference": "def run():\n  pass"})",
       complaints);
  EXPECT_THAT(complaints, ElementsAre("d.json: top level: expected an object, found []",
                                      "d.json: outputs: expected at least one output, found none"));
}

}  // namespace
}  // namespace whet
