// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/file.h"

namespace whet {

// The user's git, started without a shell, without hooks, and blind to the configuration and environment of the user.
class Git {
 public:
  explicit Git(std::string search_path = "/usr/local/bin:/usr/bin:/bin") : search_path_(std::move(search_path)) {}

  // `git ARGUMENTS` in `folder`; its stdout without the last line feed. Any other exit code than 0 is an error with the end of stderr.
  Expected<std::string> run(const std::string& folder, const std::vector<std::string>& arguments, const std::string& stdin_text = {}) const;

  // The commit's files (path -> contents), read from the object store.
  Expected<std::map<std::string, std::string>> files_of(const std::string& folder, const std::string& commit) const;

  // From now on every git keeps this descriptor open too: with the lock on it, a git that outlives us holds the lock until it has ended.
  void share(const Descriptor& lock) { shared_ = lock.get(); }

 private:
  std::string search_path_;
  int shared_ = -1;
};

}  // namespace whet
