// SPDX-License-Identifier: Apache-2.0
#include "base/json_impl.h"
#include "fuzzed.h"

using namespace whet;

// What is accepted is written and read back the same; what is refused has a message that names the file.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, std::size_t size) {
  auto json = parse_json(text_of(data, size), "f.json");
  if (!json) {
    must(json.error().what.starts_with("f.json"), "an error names the file");
    return 0;
  }
  must(!brief(*json).empty(), "a value has a short form");
  auto again = parse_json(json->dump(), "again");
  must(again.has_value() && *again == *json, "what was accepted is read back the same");
  return 0;
}
