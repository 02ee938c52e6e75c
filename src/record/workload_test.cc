// SPDX-License-Identifier: Apache-2.0
#include "record/workload.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/json_impl.h"

namespace whet {
namespace {

using testing::ElementsAre;

const Definition& paged() {
  static const Definition kDefinition = [] {
    std::vector<std::string> complaints;
    Definition definition = definition_from_json(
        *parse_json(
            R"({"name": "paged", "op_type": "x", "axes": {"batch": {"type": "var"}, "batch1": {"type": "var"}, "pages": {"type": "var"},
          "dim": {"type": "const", "value": 64}}, "constraints": ["batch1 == batch + 1", "12 % batch == 0"],
          "inputs": {"q": {"shape": ["batch", "dim"], "dtype": "bfloat16"}, "lengths": {"shape": ["batch"], "dtype": "int32"},
          "indptr": {"shape": ["batch1"], "dtype": "int32"}, "table": {"shape": ["pages"], "dtype": "int8"}, "scale": {"shape": null, "dtype": "float32"},
          "window": {"shape": null, "dtype": "int32"}, "causal": {"shape": null, "dtype": "bool"}},
          "outputs": {"o": {"shape": ["batch", "dim"], "dtype": "bfloat16"}}, "reference": "def run(): pass"})",
            "d"),
        "d", complaints);
    EXPECT_THAT(complaints, ElementsAre());
    return definition;
  }();
  return kDefinition;
}

constexpr const char* kGood =
    R"({"definition": "paged", "solution": null, "evaluation": null, "workload": {"uuid": "u1", "axes": {"batch": 2, "batch1": 3, "pages": 8, "dim": 64},
  "inputs": {"table": {"type": "safetensors", "path": "blob/x.safetensors", "tensor_key": "t"}, "scale": {"type": "scalar", "value": 1},
             "window": {"type": "scalar", "value": 4}, "causal": {"type": "scalar", "value": true}},
  "whet": {"name": "w", "family": "f", "sets": ["full", "quick"], "tolerance": {"rtol": 1e-3}, "floor": {"flops": 10},
           "recipes": {"q": {"kind": "planted", "scale": 2, "peaks": 3}, "lengths": {"kind": "lengths", "lengths": [3, 5]}, "indptr": {"kind": "cumsum_of", "of": "lengths"}}}}})";

Workload read(const std::string& text, std::vector<std::string>& complaints) {
  return workload_from_json(*parse_json(text, "w"), paged(), "w.jsonl:2", complaints);
}

// The good line with one piece replaced, and what is said about it.
std::vector<std::string> complaints_with(const std::string& piece, const std::string& other) {
  std::string text = kGood;
  const std::size_t at = text.find(piece);
  EXPECT_NE(at, std::string::npos) << piece;
  text.replace(at, piece.size(), other);
  std::vector<std::string> complaints;
  read(text, complaints);
  return complaints;
}

TEST(Workload, ReadsRecipesAndIsReadBackEqual) {
  std::vector<std::string> complaints;
  const Workload workload = read(kGood, complaints);
  EXPECT_THAT(complaints, ElementsAre());
  EXPECT_EQ(std::get<double>(workload.inputs.at("scale").scalar), 1.0);
  EXPECT_EQ(workload.inputs.at("q").recipe.peaks, 3);
  EXPECT_EQ(workload.inputs.at("lengths").recipe.lengths, (std::vector<int64_t>{3, 5}));
  EXPECT_FALSE(workload.axes.contains("dim"));
  EXPECT_EQ(workload.tolerance, (Tolerance{1e-3, 1e-2, -1}));
  EXPECT_EQ(read(to_json(workload).dump(), complaints), workload);
  EXPECT_THAT(complaints, ElementsAre());
}

TEST(Workload, TakesFlashInfersDefaultsAndTheTasksTolerance) {
  std::vector<std::string> complaints;
  Definition definition = paged();
  definition.inputs.resize(1);
  const auto json = parse_json(
      R"({"definition": "paged", "workload": {"uuid": "u", "axes": {"batch": 2, "batch1": 3, "pages": 0}}})", "w");
  const Workload workload =
      workload_from_json(*json, definition, "w:1", complaints, {{Dtype::bfloat16, {0.5, 0.25, 0.125}}});
  EXPECT_THAT(complaints, ElementsAre());
  EXPECT_EQ(workload.inputs.at("q").recipe, Recipe{});
  EXPECT_EQ(workload.tolerance, (Tolerance{0.5, 0.25, 0.125}));
  EXPECT_EQ(workload.name, "u");
  EXPECT_EQ(workload.family, "all");
  EXPECT_EQ(workload.sets, std::vector<std::string>{"full"});
}

TEST(Workload, SaysWhatIsWrong) {
  struct Case {
    const char *piece, *other, *complaint;
  };
  for (const Case& c : {
           Case{"\"definition\": \"paged\"", "\"definition\": \"page\"",
                "definition: expected \"paged\", found \"page\""},
           {"\"solution\": null", "\"solution\": \"x\"",
            "solution: expected null: a workload's line holds no result, found \"x\""},
           {"\"uuid\": \"u1\"", "\"uuid\": 1", "workload.uuid: expected a non-empty string, found 1"},
           {"\"batch\": 2", "\"batch\": -2", "workload.axes.batch: expected an integer >= 0, found -2"},
           {"\"batch\": 2", "\"batch\": 2.0", "workload.axes.batch: expected an integer >= 0, found 2.0"},
           {"\"batch1\": 3", "\"batch1\": 4", "workload.axes: the constraint \"batch1 == batch + 1\" does not hold"},
           {"\"dim\": 64", "\"dim\": 65", "workload.axes.dim: the Definition fixes this axis to 64, found 65"},
           {"\"dim\": 64", "\"page\": 64",
            "workload.axes.page: the Definition has no such axis; did you mean \"pages\"?"},
           {"\"pages\": 8", "\"pages\": 9223372036854775807",
            "workload.axes: with \"table\" the tensors take more than 64 GiB; make the axes smaller"},
           {"\"table\": {", "\"tabel\": {",
            "workload.inputs.tabel: the Definition has no such input; did you mean \"table\"?"},
           {"\"value\": 1}", "\"value\": \"x\"}",
            "workload.inputs.scale.value: expected a number that fits into float32, found \"x\""},
           {"\"value\": 1}", "\"value\": 1e39}",
            "workload.inputs.scale.value: expected a number that fits into float32, found 1e+39"},
           {"\"value\": 1}", "\"valeu\": 1}", "workload.inputs.scale.value: missing; expected a float32"},
           {"\"value\": 4", "\"value\": 4.5",
            "workload.inputs.window.value: expected an integer that fits into int32, found 4.5"},
           {"\"value\": 4", "\"value\": 4294967296",
            "workload.inputs.window.value: expected an integer that fits into int32, found 4294967296"},
           {"\"value\": true", "\"value\": 1",
            "workload.inputs.causal.value: expected true or false (the dtype is bool), found 1"},
           {"{\"type\": \"scalar\", \"value\": 4}", "{\"type\": \"random\"}",
            "workload.inputs.window: a scalar is not drawn; give it a value: {\"type\": \"scalar\", \"value\": ...}"},
           {"\"type\": \"safetensors\"", "\"type\": \"safetensor\"",
            "workload.inputs.table.type: unknown type \"safetensor\"; did you mean \"safetensors\"?"},
           {"\"type\": \"safetensors\"", "\"type\": \"scalar\"",
            "workload.inputs.table.type: \"table\" is a tensor (its shape is not null); expected \"random\" or "
            "\"safetensors\", found \"scalar\""},
           {"blob/x.safetensors", "../x.safetensors",
            "workload.inputs.table.path: expected a path below the task's folder, relative and without \"..\", found "
            "\"../x.safetensors\""},
           {"blob/x.safetensors", "/etc/passwd",
            "workload.inputs.table.path: expected a path below the task's folder, relative and without \"..\", found "
            "\"/etc/passwd\""},
           {"\"family\": \"f\"", "\"familiy\": \"f\"", "workload.whet.familiy: unknown key; did you mean \"family\"?"},
           {"\"name\": \"w\"", "\"name\": \"a b\"",
            "workload.whet.name: expected letters, digits and . _ + = - only, found \"a b\""},
           {"[\"full\", \"quick\"]", "[]", "workload.whet.sets: expected at least one set"},
           {"\"rtol\": 1e-3", "\"rtol\": -1", "workload.whet.tolerance.rtol: expected a number >= 0, found -1"},
           {"\"rtol\"", "\"r_tol\"", "workload.whet.tolerance.r_tol: unknown key; did you mean \"rtol\"?"},
           {"\"flops\"", "\"flop\"", "workload.whet.floor.flop: unknown key; did you mean \"flops\"?"},
           {"\"planted\"", "\"planned\"",
            "workload.whet.recipes.q.kind: unknown recipe \"planned\"; did you mean \"planted\"?"},
           {"\"peaks\": 3", "\"peaks\": 65", "workload.whet.recipes.q: 65 peaks do not fit into rows of 64"},
           {"\"kind\": \"planted\", \"scale\": 2, \"peaks\": 3", "\"kind\": \"page_permutation\"",
            "workload.whet.recipes.q: page_permutation needs an integer input; this one is bfloat16"},
           {"[3, 5]", "[3]", "workload.whet.recipes.lengths: expected 2 lengths, found 1"},
           {"\"of\": \"lengths\"", "\"of\": \"length\"",
            "workload.whet.recipes.indptr: there is no input \"length\"; did you mean \"lengths\"?"},
           {"[3, 5]", "[2147483647, 1]",
            "workload.whet.recipes.indptr: the sum of \"lengths\" does not fit into int32"},
           {"\"kind\": \"cumsum_of\", \"of\": \"lengths\"", "\"kind\": \"index_below\", \"of\": \"page\"",
            "workload.whet.recipes.indptr: there is no axis \"page\"; did you mean \"pages\"?"},
           {"\"kind\": \"cumsum_of\", \"of\": \"lengths\"", "\"kind\": \"normal\"",
            "workload.whet.recipes.indptr: normal needs a floating-point input; this one is int32"},
           {"\"kind\": \"cumsum_of\", \"of\": \"lengths\"", "\"kind\": \"constant\", \"value\": 0.5",
            "workload.whet.recipes.indptr: 0.5 is no value of int32"},
           {"\"kind\": \"cumsum_of\", \"of\": \"lengths\"", "\"kind\": \"uniform\", \"low\": 3, \"high\": 1",
            "workload.whet.recipes.indptr.high: expected a number > low = 3, found 1"},
           {", \"indptr\": {\"kind\": \"cumsum_of\", \"of\": \"lengths\"}", "",
            "workload.inputs.indptr: a random int32 input needs a recipe under workload.whet.recipes.indptr (lengths, "
            "cumsum_of, page_permutation, index_below, uniform or "
            "constant), or type \"safetensors\""},
           {"\"indptr\": {\"kind\"", "\"table\": {\"kind\": \"page_permutation\"}, \"indptr\": {\"kind\"",
            "workload.whet.recipes.table: only an input of type \"random\" has a recipe"},
       })
    EXPECT_THAT(complaints_with(c.piece, c.other), testing::Contains("w.jsonl:2: " + std::string(c.complaint)))
        << c.other;
}

TEST(Workload, NeverOverflowsWhateverTheOrderOfExtents) {
  Definition definition;
  definition.name = "d";
  definition.axes = {{"a", std::nullopt, ""}, {"b", std::nullopt, ""}, {"c", std::nullopt, ""}};
  definition.outputs = {{"y", std::vector<std::string>{"a", "b", "c"}, Dtype::float32, "", Role::activation}};
  std::vector<std::string> complaints;
  const auto json = parse_json(
      R"({"definition": "d", "workload": {"uuid": "u", "axes": {"a": 4611686018427387904, "b": 4611686018427387904, "c": 0}}})",
      "w");
  workload_from_json(*json, definition, "w:1", complaints);
  EXPECT_THAT(complaints,
              ElementsAre("w:1: workload.axes: with \"y\" the tensors take more than 64 GiB; make the axes smaller"));
}

}  // namespace
}  // namespace whet
