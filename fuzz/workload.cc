// SPDX-License-Identifier: Apache-2.0
#include "record/workload.h"

#include "base/json_impl.h"
#include "fuzzed.h"
#include "task/describe.h"

using namespace whet;

namespace {

// One Definition with every kind of input, so that all recipes can fit.
constexpr std::string_view kPaged =
    R"({"name":"paged","op_type":"x","axes":{"batch":{"type":"var"},"batch_plus_one":{"type":"var"},"pages":{"type":"var"},
"head_dim":{"type":"const","value":64}},"constraints":["batch_plus_one == batch + 1","pages % batch == 0 or batch == 0"],
"inputs":{"q":{"shape":["batch","head_dim"],"dtype":"bfloat16"},"lengths":{"shape":["batch"],"dtype":"int32"},
"indptr":{"shape":["batch_plus_one"],"dtype":"int32"},"table":{"shape":["pages"],"dtype":"int16"},"which":{"shape":["batch"],"dtype":"int64"},
"mask":{"shape":["batch"],"dtype":"bool"},"scale":{"shape":null,"dtype":"float32"},"window":{"shape":null,"dtype":"int32"},"causal":{"shape":null,"dtype":"bool"}},
"outputs":{"o":{"shape":["batch","head_dim"],"dtype":"bfloat16"}},"reference":"def run(): pass"})";

const Definition& paged() {
  static const Definition kDefinition = [] {
    std::vector<std::string> complaints;
    Definition definition = definition_from_json(*parse_json(kPaged, "paged"), "paged", complaints);
    must(complaints.empty(), "the Definition of this fuzzer is right");
    return definition;
  }();
  return kDefinition;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, std::size_t size) {
  auto json = parse_json(text_of(data, size), "f");
  if (!json) return 0;
  std::vector<std::string> complaints;
  const Workload workload = workload_from_json(*json, paged(), "f.jsonl:1", complaints);
  for (const std::string& complaint : complaints)
    must(complaint.starts_with("f.jsonl:1: "), "a complaint names file and line");
  if (!complaints.empty()) return 0;
  must(tensor_bytes(paged(), workload) <= kMaxWorkloadBytes, "a workload is bounded");
  const Workload again = workload_from_json(to_json(workload), paged(), "again", complaints);
  must(complaints.empty() && again == workload, "a workload is read back equal");
  return 0;
}
