// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "truth/runner/protocol.h"
#include "whet/candidate.h"

namespace whet::runner {

// The Solution of a runner, whatever it is written in: it appears as an entry of candidate.h.
class SolutionTable {
 public:
  virtual ~SolutionTable() = default;
  // Loads it and finds its entry for a Definition; `wanted` is the payload of Op::load. The reply is the answer to it.
  virtual Reply load(const std::string& wanted, const WhetEntry*& entry) = 0;
  // What the Solution says about itself by now: which library, which kernels.
  virtual std::string notes() { return ""; }
  // After a run() whose time has been taken: puts into the outputs of that call what the Solution returned instead of writing it there.
  // 0, or as run().
  virtual whet_int32 deliver() { return 0; }
};

// A shared library that exports whet_solution_v1().
class LibraryTable : public SolutionTable {
 public:
  explicit LibraryTable(const char* artifact) : artifact_(artifact) {}
  Reply load(const std::string& wanted, const WhetEntry*& entry) override;
  std::string notes() override;

 private:
  const char* artifact_;
  const char* (*notes_)() = nullptr;
};

// Into the reply: notes(), cut to what fits.
void add_notes(SolutionTable& table, Reply& reply);
// Into the reply: the code that a function of the Solution returned, as a Verdict's. Of 0 nothing.
void add_code(whet_int32 code, Reply& reply);

}  // namespace whet::runner
