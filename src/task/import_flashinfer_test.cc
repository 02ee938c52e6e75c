// SPDX-License-Identifier: Apache-2.0
#include "task/import_flashinfer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "base/file.h"
#include "base/json_impl.h"
#include "task/new_task.h"
#include "task/safetensors.h"

namespace whet {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

constexpr const char* kDefinition =
    R"({"name": "gather", "op_type": "x", "axes": {"n": {"type": "var"}, "m": {"type": "var"}},
  "inputs": {"x": {"shape": ["n"], "dtype": "float32"}, "index": {"shape": ["m"], "dtype": "int32"}}, "outputs": {"y": {"shape": ["m"], "dtype": "float32"}},
  "reference": "def run(x, index):\n  return x[index]"})";

std::string workload(const std::string& uuid, const std::string& path, int m) {
  return fmt::format(
      R"({{"definition": "gather", "workload": {{"uuid": "{}", "axes": {{"n": 8, "m": {}}}, "inputs": {{"x": {{"type": "random"}}, "index": {{"type": "safetensors",
)"
      "\"path\": \"{}\", \"tensor_key\": \"index\"}}}}}}, \"solution\": null, \"evaluation\": null}}",
      uuid, m, path);
}

std::string one_line(std::string text) {
  std::erase(text, '\n');
  return text + "\n";
}

std::string solution(const std::string& name, const std::string& language, const std::string& binding) {
  return fmt::format(
      R"({{"name": "{}", "definition": "gather", "author": "a", "spec": {{"language": "{}", "target_hardware": ["cpu"], "entry_point": "main.cc::whet_solution_v1",
    "dependencies": [], "binding": {}}}, "sources": [{{"path": "main.cc", "content": "int x;"}}]}})",
      name, language, binding);
}

TEST(Import, MakesATaskOfEachDefinition) {
  auto folder = TemporaryDirectory::make("whet-import");
  const std::string root = folder->path().string();
  const std::string tensor = write_safetensors({{"index", Dtype::int32, {2}, std::string(8, '\0')}});
  ASSERT_TRUE(write_tree(
      root, {{"definitions/x/gather.json", kDefinition},
             {"definitions/x/broken.json", "{"},
             {"workloads/x/gather.jsonl", one_line(workload("good", "blob/a.safetensors", 2)) + "\n" +
                                              one_line(workload("shape", "blob/a.safetensors", 3)) +
                                              one_line(workload("lfs", "blob/lfs.safetensors", 2)) +
                                              one_line(workload("gone", "blob/gone.safetensors", 2)) +
                                              one_line(workload("up", "../a.safetensors", 2)) +
                                              one_line(workload("link", "blob/link.safetensors", 2))},
             {"solutions/a/x/gather/ours.json", solution("ours", "cpp", "\"whet\"")},
             {"solutions/a/x/gather/py.json", solution("py", "python", "null")},
             {"solutions/a/x/gather/ffi.json", solution("ffi", "cuda", "null")},
             {"blob/a.safetensors", tensor},
             {"blob/lfs.safetensors", "version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 3\n"}}));
  auto outside = TemporaryDirectory::make("whet-import-outside");
  ASSERT_TRUE(write_file_atomically(outside->path() / "b.safetensors", tensor));
  std::filesystem::create_symlink(outside->path() / "b.safetensors", folder->path() / "blob/link.safetensors");

  auto imported = import_flashinfer(root);
  ASSERT_TRUE(imported) << imported.error().what;
  EXPECT_THAT(
      imported->complaints,
      ElementsAre(
          HasSubstr("definitions/x/broken.json: not JSON at line 1"),
          "workloads/x/gather.jsonl:3: workload.inputs.index: blob/a.safetensors: tensor \"index\": expected I32 [3], "
          "found I32 [2]",
          HasSubstr(
              "workloads/x/gather.jsonl:6: workload.inputs.index.path: expected a path below the task's folder")));
  EXPECT_THAT(
      imported->payloads_missing,
      ElementsAre("blob/lfs.safetensors (input index at workloads/x/gather.jsonl:4): a Git-LFS pointer; fetch it with "
                  "`git lfs pull`",
                  "blob/gone.safetensors (input index at workloads/x/gather.jsonl:5): No such file or directory",
                  "blob/link.safetensors (input index at workloads/x/gather.jsonl:7): it leads out of the data set"));
  EXPECT_THAT(imported->not_runnable, ElementsAre(HasSubstr("ffi (solutions/a/x/gather/ffi.json): binding tvm-ffi"),
                                                  "py (solutions/a/x/gather/py.json): language python"));
  ASSERT_EQ(imported->tasks.size(), 1u);

  // With a reference of one's own it is a task without a complaint.
  ImportedTask& task = imported->tasks[0];
  EXPECT_THAT(task.still_needed, ElementsAre(HasSubstr("solutions/reference")));
  ASSERT_EQ(task.payloads.size(), 1u);
  task.files["blob/a.safetensors"] = tensor;
  std::vector<std::string> before = read_task(task.files, "").complaints;
  EXPECT_THAT(before, ElementsAre(HasSubstr("reference: there is no folder solutions/reference")));
  for (const auto& [path, contents] : TaskFiles(task.files))
    if (path.starts_with("solutions/ours/")) task.files["solutions/reference/" + path.substr(15)] = contents;
  EXPECT_THAT(read_task(task.files, "").complaints, ElementsAre());
}

TEST(Import, RefusesWhatIsNoDataSet) {
  auto folder = TemporaryDirectory::make("whet-import");
  EXPECT_THAT(import_flashinfer(folder->path()).error().what,
              HasSubstr("not a FlashInfer Trace data set: there is no folder definitions/"));
  EXPECT_THAT(import_flashinfer(folder->path() / "absent").error().what, HasSubstr("No such file or directory"));
}

}  // namespace
}  // namespace whet
