// SPDX-License-Identifier: Apache-2.0
// fuzz_seeds TASKS OUT [REPORTS]: seeds for the fuzzers, OUT/NAME/*, from the shipped tasks and from captured reports of profilers. They are made when they are needed, so that no copy grows old.
#include <cstdio>

#include "base/file.h"
#include "base/hash.h"
#include "base/json_impl.h"
#include "record/solution.h"
#include "task/new_task.h"
#include "task/safetensors.h"

using namespace whet;

namespace {

void keep(std::map<std::string, std::string>& seeds, const std::string& fuzzer, const std::string& contents) {
  seeds[fuzzer + "/" + sha256_hex(contents).substr(0, 16)] = contents;
}

void add_task(std::map<std::string, std::string>& seeds, const TaskFiles& files) {
  for (const auto& [path, contents] : files) {
    if (path.ends_with(".json")) keep(seeds, "json", contents);
    if (path.starts_with("definitions/")) keep(seeds, "definition", contents);
    if (path.ends_with("task.toml")) keep(seeds, "task", contents);
    if (path.ends_with("solution.json")) {
      keep(seeds, "solution", contents);
      std::vector<std::string> complaints;
      const std::string folder = path.substr(0, path.rfind('/'));
      TaskFiles below = {{"solution.json", contents}};
      for (const auto& [other, text] : files)
        if (other.starts_with(folder + "/") && text.size() < 2000) below[other.substr(folder.size() + 1)] = text;
      const Solution solution = solution_from_files(below, folder, complaints);
      keep(seeds, "solution", to_json(solution, "x").dump());
    }
    for (std::size_t start = 0; path.ends_with(".jsonl") && start < contents.size();) {
      const std::size_t end = std::min(contents.find('\n', start), contents.size());
      keep(seeds, "workload", contents.substr(start, end - start));
      start = end + 1;
    }
  }
}

constexpr std::string_view kPagedWorkload =
    R"({"definition":"paged","workload":{"uuid":"u","axes":{"batch":2,"batch_plus_one":3,"pages":8},"inputs":{
"q":{"type":"random"},"lengths":{"type":"random"},"indptr":{"type":"random"},"table":{"type":"random"},"which":{"type":"random"},"mask":{"type":"random"},
"scale":{"type":"scalar","value":0.5},"window":{"type":"scalar","value":3},"causal":{"type":"scalar","value":true}},"whet":{"name":"w","family":"f",
"sets":["full"],"tolerance":{"rtol":1e-2,"atol":1e-2,"norm":1e-3},"floor":{"flops":10,"bytes":20},"recipes":{"q":{"kind":"planted","scale":1.5,"peaks":2},
"lengths":{"kind":"lengths","lengths":[3,5]},"indptr":{"kind":"cumsum_of","of":"lengths"},"table":{"kind":"page_permutation"},
"which":{"kind":"index_below","of":"pages"},"mask":{"kind":"uniform","low":0,"high":1}}}},"solution":null,"evaluation":null})";

void add_made(std::map<std::string, std::string>& seeds) {
  add_task(seeds, *new_task("vectors"));
  keep(seeds, "task", "definitions = [\"a\",}\"b\"]");  // toml++ asserts that this does not happen
  keep(seeds, "workload", std::string(kPagedWorkload));
  std::string safetensor = std::string(kPagedWorkload);
  safetensor.replace(safetensor.find(R"("lengths":{"type":"random"})"), 27,
                     R"("lengths":{"type":"safetensors","path":"a/b.safetensors","tensor_key":"k"})");
  keep(seeds, "workload", safetensor);
  keep(seeds, "safetensors",
       write_safetensors({{"a", Dtype::float32, {2, 1}, "01234567"}, {"b", Dtype::int64, {}, "01234567"}}));
  keep(seeds, "safetensors",
       write_safetensors({{"packed", Dtype::float4_e2m1, {3}, "abc"}, {"none", Dtype::bfloat16, {0, 4}, ""}}));
  keep(seeds, "safetensors", write_safetensors({}));
  keep(seeds, "json", R"([1, -2.5e3, "\u00e9\ud83d\ude00", null, true, {"a": {}}])");
  keep(seeds, "definition", "q_heads % kv_heads == 0 and not (a + 1 // 2 ** -3 <= -4.5 / a) or 1 < a <= 3 != True");
}

void add_reports(std::map<std::string, std::string>& seeds, const std::map<std::string, std::string>& files) {
  for (const auto& [path, contents] : files) {
    // Larger ones are cut by -max_len anyway.
    const std::string part = contents.substr(0, 16000);
    if (path.starts_with("ncu_")) keep(seeds, "ncu", part);
    if (path.find("sass") != std::string::npos || path.starts_with("nvdisasm") || path.starts_with("res_usage")) keep(seeds, "sass", part);
    for (const char* tool : {"memcheck_", "racecheck_", "initcheck_", "synccheck_"})
      if (path.starts_with(tool)) keep(seeds, "sanitizer", std::string(1, '\0') + part);
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3 && argc != 4) {
    std::fprintf(stderr, "usage: fuzz_seeds TASKS OUT [REPORTS]\n");
    return 2;
  }
  std::map<std::string, std::string> seeds;
  auto files = read_tree(argv[1]);
  if (files) add_task(seeds, *files);
  add_made(seeds);
  if (argc == 4) {
    auto reports = read_tree(argv[3]);
    if (!reports) files = std::unexpected(reports.error());
    else add_reports(seeds, *reports);
  }
  Status written = files ? write_tree(argv[2], seeds) : Status(std::unexpected(files.error()));
  if (written) return 0;
  std::fprintf(stderr, "fuzz_seeds: %s\n", written.error().what.c_str());
  return 1;
}
