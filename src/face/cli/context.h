// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <span>
#include <string>

#include "base/embedded.h"
#include "base/error.h"

namespace whet {

// What whet's main() found around it. Nothing below reads the environment or asks the terminal by itself.
struct Context {
  std::span<const EmbeddedFile> shipped_tasks;
  std::string program_folder;                       // where whet and whet-worker are
  std::map<std::string, std::string> environment;   // ours
  bool out_is_terminal = false, err_is_terminal = false;
  bool colour = false;                              // on stdout: a terminal, no NO_COLOR, TERM not dumb
  int columns = 80;                                 // of the terminal

  std::string variable(const std::string& name) const;  // "" when unset
  // --data DIR, else $XDG_DATA_HOME/whet, else ~/.local/share/whet; likewise the cache.
  Expected<std::string> data_folder(const std::string& given) const;
  Expected<std::string> cache_folder(const std::string& given) const;
  // What the worker is started with: the search path, the language, and what tells compute libraries which machine this is.
  std::map<std::string, std::string> worker_environment() const;
};

// Reads the environment, the terminal and /proc/self/exe.
Context look_around(std::span<const EmbeddedFile> shipped_tasks);

// Exit codes, the same for all commands.
inline constexpr int kGoalMet = 0, kShortOfGoal = 1, kBadInput = 2, kMachineFailed = 3, kInterrupted = 130;
int exit_code_of(const Error& error);

// To stdout. What could not be written is noticed by finish_output().
void print(const std::string& text);
Status finish_output();
// "whet: ..." to stderr; every line of a message of several lines is kept.
void complain(const std::string& message);

}  // namespace whet
