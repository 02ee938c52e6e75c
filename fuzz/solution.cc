// SPDX-License-Identifier: Apache-2.0
#include "record/solution.h"

#include "base/json_impl.h"
#include "fuzzed.h"

using namespace whet;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, std::size_t size) {
  std::vector<std::string> complaints;
  const Solution solution = solution_from_files({{"solution.json", std::string(text_of(data, size))},
                                                 {"entry.cc", "int x;"},
                                                 {"choices.h", "int y;"},
                                                 {"deep/down/kernel.h", "int z;"}},
                                                "s", complaints);
  for (const std::string& complaint : complaints) must(complaint.starts_with("s"), "a complaint names the folder");
  must(solution_hash(solution).size() == 64, "every Solution has a hash");
  if (!complaints.empty() || solution.definitions.empty()) return 0;
  const std::string inlined = to_json(solution, solution.definitions.front()).dump();
  const Solution again = solution_from_files({{"solution.json", inlined}}, "again", complaints);
  must(complaints.empty() && again == solution, "a Solution is read back equal");
  return 0;
}
