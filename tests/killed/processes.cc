// SPDX-License-Identifier: Apache-2.0
#include "tests/killed/processes.h"

#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <map>
#include <optional>
#include <thread>

#include "base/file.h"

namespace whet {
namespace {

struct Entry {
  Descendant process;
  char state = 0;
};

std::optional<Entry> read_entry(const std::string& pid) {
  const std::string folder = "/proc/" + pid;
  const auto stat = read_file(folder + "/stat", 4096);
  if (!stat) return std::nullopt;
  const std::size_t open = stat->find('('), close = stat->rfind(')');
  Entry entry;
  int parent = 0;
  if (close == std::string::npos || std::sscanf(stat->c_str() + close + 1, " %c %d", &entry.state, &parent) != 2)
    return std::nullopt;
  entry.process = {std::stoi(pid), parent, stat->substr(open + 1, close - open - 1),
                   read_file(folder + "/cmdline", 1 << 20).value_or("")};
  std::ranges::replace(entry.process.command, '\0', ' ');
  return entry;
}

}  // namespace

void adopt_orphans() { prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); }

std::vector<Descendant> descendants(pid_t ancestor) {
  std::multimap<pid_t, Entry> by_parent;
  std::error_code error;
  for (const auto& folder : std::filesystem::directory_iterator("/proc", error)) {
    const std::string name = folder.path().filename();
    if (name.find_first_not_of("0123456789") != std::string::npos) continue;
    if (auto entry = read_entry(name)) by_parent.emplace(entry->process.parent, std::move(*entry));
  }
  std::vector<Descendant> found;
  std::vector<pid_t> parents = {ancestor};
  for (std::size_t i = 0; i < parents.size(); ++i)
    for (auto [at, end] = by_parent.equal_range(parents[i]); at != end; ++at) {
      parents.push_back(at->second.process.pid);
      if (at->second.state != 'Z' && at->second.state != 'X') found.push_back(at->second.process);
    }
  return found;
}

void reap_orphans(pid_t except) {
  // Only those that have ended are asked for, and by their numbers: `except` keeps its ending for whoever waits for it.
  siginfo_t info{};
  while (waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) == 0 && info.si_pid != 0 && info.si_pid != except) {
    waitpid(info.si_pid, nullptr, 0);
    info = {};
  }
}

std::string names_of(const std::vector<Descendant>& processes) {
  std::string text;
  for (const Descendant& process : processes)
    text += fmt::format("{}{} ({})", text.empty() ? "" : ", ", process.name, process.pid);
  return text;
}

bool within(int looks, const std::function<bool()>& condition) {
  for (int look = 0; look < looks; ++look) {
    if (condition()) return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return condition();
}

}  // namespace whet
