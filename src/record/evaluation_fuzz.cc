// SPDX-License-Identifier: Apache-2.0
// What is read as an Evaluation, a Scoreboard or a request is written and read back the same.
#include <cstdlib>

#include "base/json_impl.h"
#include "record/evaluation.h"
#include "record/request.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, std::size_t size) {
  using namespace whet;
  auto json = parse_json({reinterpret_cast<const char*>(data), size}, "input");
  if (!json) return 0;
  if (auto evaluation = evaluation_from_json(*json, "input")) {
    Json written = to_json(*evaluation);
    auto again = evaluation_from_json(written, "again");
    if (!again || to_json(*again) != written) std::abort();
  }
  if (auto board = scoreboard_from_json(*json, "input")) {
    Json written = to_json(*board);
    if (auto again = scoreboard_from_json(written, "again"); !again || to_json(*again) != written) std::abort();
  }
  if (auto request = evaluate_request_from_json(*json, "input"))
    if (auto again = evaluate_request_from_json(to_json(*request), "again"); !again || *again != *request) std::abort();
  return 0;
}
