// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "face/cli/arguments.h"
#include "face/cli/context.h"

namespace whet {

class Command {
 public:
  virtual ~Command() = default;
  virtual void declare(Arguments& arguments) = 0;
  // The exit code; an Error is printed by the caller and becomes 2 or 3.
  virtual Expected<int> run(Context& context, const Arguments& arguments) = 0;
};

struct CommandRow {
  const char* group;    // heading in `whet --help`
  const char* name;     // "evaluate", "task check"
  const char* summary;  // one line
  const char* details;  // after the options: what happens, examples, exit codes
  std::unique_ptr<Command> (*make)();
};

// In the order in which --help shows them. One file a command defines each row.
std::vector<const CommandRow*> all_commands();

extern const CommandRow kTaskCheck, kTaskNew, kTaskShow, kTaskImport, kTaskList, kHeader, kEvaluate, kCompare, kOptimize, kResume, kLedgerList,
    kLedgerShow, kLedgerExport, kLedgerCheck, kRecheck, kMachine, kDemo, kVersion, kProfile, kDisassemble, kSanitize;

// The whole program after main(): finds the command, parses, runs, prints errors. `words` without the program's name.
int run_command_line(const std::vector<std::string>& words, Context& context);

}  // namespace whet
