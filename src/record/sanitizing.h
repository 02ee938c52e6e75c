// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/json.h"

namespace whet {

// One thing that a sanitizer objects to; the same thing in many threads is one finding.
struct SanitizerFinding {
  std::string kind;      // "Invalid __global__ write", "Race", "Uninitialized __global__ memory read", "Barrier error", "API error", "Leak"
  std::string sentence;  // the sanitizer's own first line
  std::string kernel;    // "misaligned(char *)"; empty where no kernel is named
  std::string place;     // "planted.cu:10"; empty without -lineinfo
  std::string thread, block;  // of the first: "(0,0,0)"
  std::string address;   // of the first: "0x7f1540800001"
  std::string detail;    // "is misaligned", "is out of bounds", the other side of a race
  int64_t bytes = 0;     // of the access
  int64_t times = 1;     // how often it was printed
  bool operator==(const SanitizerFinding&) const = default;
};

// A tool that ran over one call of a Solution.
struct SanitizerReport {
  enum class Outcome { clean, found, failed };  // failed: the tool says nothing about the Solution
  std::string tool;                             // memcheck, racecheck, initcheck, synccheck
  Outcome outcome = Outcome::failed;
  std::string sentence;                         // of the whole, for a person
  int64_t errors = 0, warnings = 0;             // by the tool's summary
  std::vector<SanitizerFinding> findings;
  bool operator==(const SanitizerReport&) const = default;
};

struct Sanitizing {
  std::string task, workload, solution;
  std::string version;  // of compute-sanitizer
  std::vector<SanitizerReport> reports;
  bool clean() const;    // every tool ran and found nothing
  bool failed() const;   // at least one said nothing
  bool operator==(const Sanitizing&) const = default;
};

Json to_json(const Sanitizing& sanitizing);
Expected<Sanitizing> sanitizing_from_json(const Json& json, const std::string& where);

}  // namespace whet
