// SPDX-License-Identifier: Apache-2.0
#include "record/definition.h"

#include "base/json_impl.h"
#include "fuzzed.h"
#include "record/constraint.h"
#include "task/typed_header.h"

using namespace whet;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, std::size_t size) {
  (void)evaluate_constraint(std::string(text_of(data, size)), {{"a", 3}, {"q_heads", 8}, {"kv_heads", 0}});
  auto json = parse_json(text_of(data, size), "f.json");
  if (!json) return 0;
  std::vector<std::string> complaints;
  const Definition definition = definition_from_json(*json, "f.json", complaints);
  for (const std::string& complaint : complaints) must(complaint.starts_with("f.json: "), "a complaint names the file");
  if (!complaints.empty()) return 0;
  const Definition again = definition_from_json(to_json(definition), "again", complaints);
  must(complaints.empty() && again == definition, "a Definition is read back equal");
  must(!typed_header(definition).empty(), "a Definition has a typed header");
  return 0;
}
