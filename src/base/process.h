// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstddef>
#include <deque>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "base/file.h"

namespace whet {

// Keeps the first and the last half of a text whose length is unknown, in bounded memory.
class BoundedText {
 public:
  explicit BoundedText(size_t max_bytes = size_t{64} << 10) : half_(max_bytes / 2) {}

  void append(std::string_view bytes);
  size_t total() const { return total_; }
  bool truncated() const { return total_ > head_.size() + tail_.size(); }
  // Head and tail; between them, where something was left out, a line "[... N bytes left out ...]".
  std::string text() const;

 private:
  size_t half_;
  size_t total_ = 0;
  std::string head_;
  std::deque<char> tail_;
};

// A trusted program: no jail, no shell. (Untrusted ones: sandbox/jail.h.)
struct ProcessSpec {
  std::vector<std::string> argv;                                  // argv[0] is looked up in PATH unless it has a slash
  std::optional<std::map<std::string, std::string>> environment;  // the whole environment; absent: ours
  std::optional<std::filesystem::path> working_directory;
  int kept = -1;                                      // a descriptor of ours that it has too, as its number 3; -1: none
  std::string stdin_text;                             // run_process only; its stdin then ends
  size_t max_output = size_t{16} << 20;               // run_process only; per stream, head and tail kept
  std::optional<std::chrono::milliseconds> deadline;  // run_process only; then its process group is killed
};

struct ProcessResult {
  int exit_code = -1;  // -1 when it ended by a signal
  int signal = 0;
  bool timed_out = false;
  std::string out;
  std::string err;
  bool truncated = false;  // out or err
  double seconds = 0;

  bool ok() const { return exit_code == 0 && !timed_out; }
  // "git status: exit code 1: fatal: not a git repository", for messages; the end of stderr, on one line.
  std::string describe(const std::vector<std::string>& argv) const;
};

// Runs it to its end. An Error only when it could not be started; what it did is in the result.
Expected<ProcessResult> run_process(const ProcessSpec& spec);

// A running program, leader of a process group of its own, with pipes. Ends with SIGKILL to the group when the object goes before wait().
class Process {
 public:
  enum class Stderr { inherit, pipe };
  static Expected<Process> start(const ProcessSpec& spec, Stderr stderr_goes = Stderr::inherit);

  Process() = default;
  Process(Process&& other) noexcept;
  Process& operator=(Process&& other) noexcept;
  ~Process();

  pid_t pid() const { return pid_; }
  Descriptor& in() { return in_; }    // we write; reset() ends its stdin
  Descriptor& out() { return out_; }  // we read
  Descriptor& err() { return err_; }  // none unless Stderr::pipe

  struct End {
    int exit_code = -1;
    int signal = 0;
  };
  // Nothing while it runs.
  Expected<std::optional<End>> poll();
  // Nothing when the time is over and it still runs. Does not read its output: a full pipe blocks it.
  Expected<std::optional<End>> wait(std::chrono::milliseconds at_most);
  void signal(int number);  // to its process group
  void kill();              // SIGKILL to the group, and reaped

 private:
  pid_t pid_ = -1;
  std::optional<End> end_;
  Descriptor pidfd_, in_, out_, err_;
};

}  // namespace whet
