// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "truth/python/interpreter.h"
#include "truth/runner/solution_table.h"

namespace whet::python {

// A Solution in Python as an entry of candidate.h. What is done in Python is done by whet.py; here it is called, and what it made for a call is kept, so that a
// call that comes again costs one call of a Python function.
class PythonTable : public runner::SolutionTable {
 public:
  // `artifact`: the folder that the judge laid out. `returns_late`: deliver() copies what run() returned; else run() does.
  PythonTable(std::string artifact, std::string device, bool returns_late) : artifact_(std::move(artifact)), device_(std::move(device)), returns_late_(returns_late) {}

  runner::Reply load(const std::string& wanted, const WhetEntry*& entry) override;
  std::string notes() override;
  whet_int32 deliver() override;

 private:
  // A run() as it was made ready for the buffers of one call.
  struct Ready {
    std::vector<uint64_t> key;
    Object function, arguments;
  };
  static whet_int32 prepare(const WhetCall* call, void** state);
  static whet_int32 run(const WhetCall* call, void* state);

  Object call(const char* function, Object arguments);
  whet_int32 failed(const WhetCall* call);
  const Ready* ready_for(const WhetCall& call);

  std::string artifact_, device_;
  bool returns_late_;
  Object bridge_;
  std::vector<Ready> ready_;
  std::string definition_;
  WhetEntry entry_ = {};
  const WhetCall* last_call_ = nullptr;
};

}  // namespace whet::python
