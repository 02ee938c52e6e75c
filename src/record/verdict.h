// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace whet {

// Numbered outcomes of judging a Solution on a Workload. Numbers are stable; docs/verdicts.md explains each, and a test keeps the two in step.
enum class Code : int {
  correct = 0,
  // 1xx: it could not be built or loaded
  compile_failed = 100,
  compile_timed_out = 101,
  compile_too_large = 102,
  link_failed = 103,
  flag_refused = 104,
  dependency_missing = 105,
  load_failed = 110,
  entry_missing = 111,
  abi_mismatch = 112,
  definition_missing = 113,
  language_unsupported = 114,
  unsupported = 115,
  // 2xx: it broke a promise of the contract
  stale = 200,
  late = 201,
  input_written = 202,
  out_of_bounds = 203,
  escaped = 204,
  clock_not_believed = 205,
  device_changed = 206,
  crashed = 210,
  hung = 211,
  memory_exceeded = 212,
  tasks_exceeded = 213,
  returned_error = 214,
  exited = 215,
  // 3xx: it finished, and the answer is not right
  wrong = 300,
  not_written = 301,
  not_finite = 302,
  // 4xx: it is right, but its time is not to be believed or not known
  faster_than_possible = 400,
  not_enough_evidence = 401,
  // 5xx: the machine or the task failed; says nothing about the Solution
  machine_failed = 500,
  reference_failed = 501,
  workload_not_admitted = 502,
  cancelled = 503,
  not_run = 504,
};

struct CodeRow {
  Code code;
  std::string_view name;      // "input_written"
  std::string_view meaning;   // one sentence
};
std::span<const CodeRow> all_codes();  // ascending
std::string_view name_of(Code code);
bool is_known(int code);

// A numbered outcome with evidence and one sentence. Data, never thrown.
struct Verdict {
  Code code = Code::not_run;
  std::string sentence;       // what happened, for a person: "draw 7: o[3,0,2,11] is 0.12, expected 0.48 (tolerance 0.004)"
  std::string evidence;       // longer text or numbers; may be empty (a compiler's log, the tail of stderr)
  bool correct() const { return code == Code::correct; }
  // Right in every output; its time may still be unknown.
  bool right() const { return code == Code::correct || code == Code::faster_than_possible || code == Code::not_enough_evidence; }
  bool operator==(const Verdict&) const = default;
};

}  // namespace whet
