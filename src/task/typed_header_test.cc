// SPDX-License-Identifier: Apache-2.0
#include "task/typed_header.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/file.h"
#include "base/json_impl.h"
#include "task/load.h"

namespace whet {
namespace {

Definition read(const char* text) {
  std::vector<std::string> complaints;
  Definition definition = definition_from_json(*parse_json(text, "d"), "d", complaints);
  EXPECT_THAT(complaints, testing::ElementsAre());
  return definition;
}

// Names that C or C++ reserves, every dtype, and descriptions that try to end a comment.
Definition awkward() {
  Definition definition = read(R"({"name": "3d.op-x", "op_type": "x", "description": "ends */ here \\\n or ??/ there",
    "axes": {"int": {"type": "var"}, "class": {"type": "const", "value": 3}}, "inputs": {"float": {"shape": ["int"], "dtype": "float32", "description": "a */ int x; /* b"},
    "workspace": {"shape": [], "dtype": "int64"}, "w": {"shape": ["int", "class"], "dtype": "float8_e4m3fn"}, "s": {"shape": null, "dtype": "int16"},
    "t": {"shape": null, "dtype": "bfloat16"}, "u": {"shape": null, "dtype": "bool"}, "d": {"shape": null, "dtype": "float64"}, "l": {"shape": null, "dtype": "int64"}},
    "outputs": {"y": {"shape": ["int"], "dtype": "float64"}}, "reference": "def run(): pass", "whet": {"roles": {"w": "weight", "float": "inout"}}})");
  for (const char* dtype : {"float16", "bfloat16", "float8_e5m2", "float4_e2m1", "int32", "int16", "int8", "bool"})
    definition.outputs.push_back(
        {std::string("out_") + dtype, std::vector<std::string>{"int"}, *dtype_from_name(dtype), "", Role::activation});
  return definition;
}

int compile(const std::string& header, const std::string& compiler, const std::string& ending) {
  auto folder = TemporaryDirectory::make("whet-header");
  const std::string base = (folder->path() / "h").string();
  EXPECT_TRUE(write_file_atomically(base + ".h", header));
  // Read by a function that has no warning of its own, in a translation unit of the language; twice, for the guard.
  EXPECT_TRUE(write_file_atomically(base + ending, "#include \"h.h\"\n#include \"h.h\"\nint nothing;\n"));
  const std::string command =
      compiler + " -pedantic -Wall -Wextra -Werror -Wno-unused-function -fsyntax-only -I" WHET_SOURCE_DIR "/include " +
      base + ending;
  return std::system(command.c_str());
}

TEST(TypedHeader, NamesFieldsWithShapesInComments) {
  auto files = read_tree(WHET_SOURCE_DIR "/tasks/attention-cpu");
  auto task = load_task(*files, "attention-cpu");
  ASSERT_TRUE(task);
  const std::string header = typed_header(*task->definition("attention_bf16"));
  EXPECT_THAT(header, testing::HasSubstr("struct attention_bf16_args {\n  const whet_bfloat16* q; /* [batch, q_len, "
                                         "q_heads, head_dim] activation: queries */\n"));
  EXPECT_THAT(header, testing::HasSubstr("  args.o = (whet_bfloat16*)call->tensors[3].data;\n"));
  EXPECT_THAT(header, testing::HasSubstr("  args.head_dim = call->axes[5];\n"));
  EXPECT_THAT(header,
              testing::HasSubstr("  args.scale = (float)call->scalars[0].f;\n  args.causal = call->scalars[1].i != "
                                 "0;\n  args.window = (whet_int64)call->scalars[2].i;\n"));
}

TEST(TypedHeader, CompilesAsC99AndAsCpp) {
  auto files = read_tree(WHET_SOURCE_DIR "/tasks/attention-cpu");
  auto task = load_task(*files, "attention-cpu");
  ASSERT_TRUE(task);
  for (const Definition& definition : {awkward(), *task->definition("attention_bf16")}) {
    EXPECT_EQ(compile(typed_header(definition), "gcc -std=c99", ".c"), 0) << typed_header(definition);
    EXPECT_EQ(compile(typed_header(definition), "g++ -std=c++20", ".cc"), 0) << typed_header(definition);
  }
}

TEST(TypedHeader, CompilesForTheHopperTask) {
  auto files = read_tree(WHET_SOURCE_DIR "/tasks/attention-hopper");
  auto task = load_task(*files, "attention-hopper");
  ASSERT_TRUE(task);
  ASSERT_EQ(task->definitions.size(), 12u);
  std::string all;
  for (const Definition& definition : task->definitions) all += typed_header(definition);
  EXPECT_EQ(compile(all, "gcc -std=c99", ".c"), 0);
  EXPECT_EQ(compile(all, "g++ -std=c++20", ".cc"), 0);
}

}  // namespace
}  // namespace whet
