// SPDX-License-Identifier: Apache-2.0
#include "search/git.h"

#include <charconv>

#include "base/process.h"

namespace whet {
namespace {

// Named on the command line, so that no file can say otherwise.
const std::vector<std::string> kConfiguration = {
    "core.hooksPath=/dev/null", "core.fsmonitor=false", "core.autocrlf=false", "user.name=whet",       "user.email=whet@localhost",
    "commit.gpgSign=false",     "tag.gpgSign=false",    "gc.auto=0",           "protocol.ext.allow=never", "init.defaultBranch=main",
    "safe.directory=*",         "advice.detachedHead=false"};

}  // namespace

Expected<std::string> Git::run(const std::string& folder, const std::vector<std::string>& arguments, const std::string& stdin_text) const {
  ProcessSpec spec;
  spec.argv = {"git"};
  for (const std::string& one : kConfiguration) spec.argv.insert(spec.argv.end(), {"-c", one});
  spec.argv.insert(spec.argv.end(), arguments.begin(), arguments.end());
  spec.environment = std::map<std::string, std::string>{{"PATH", search_path_},
                                                        {"HOME", "/nonexistent"},
                                                        {"LC_ALL", "C"},
                                                        {"GIT_CONFIG_NOSYSTEM", "1"},
                                                        {"GIT_CONFIG_GLOBAL", "/dev/null"},
                                                        {"GIT_TERMINAL_PROMPT", "0"}};
  spec.working_directory = folder;
  spec.stdin_text = stdin_text;
  spec.kept = shared_;
  spec.max_output = size_t{256} << 20;
  spec.deadline = std::chrono::seconds(60);
  WHET_TRY(ProcessResult result, run_process(spec));
  if (!result.ok()) {
    std::vector<std::string> shown = {"git"};
    shown.insert(shown.end(), arguments.begin(), arguments.end());
    return machine_failed("in {}: {}", folder, result.describe(shown));
  }
  if (!result.out.empty() && result.out.back() == '\n') result.out.pop_back();
  return std::move(result.out);
}

Expected<std::map<std::string, std::string>> Git::files_of(const std::string& folder, const std::string& commit) const {
  WHET_TRY(const std::string listing, run(folder, {"ls-tree", "-r", "-z", "--name-only", commit}));
  std::vector<std::string> paths;
  std::string query;
  for (std::size_t from = 0; from < listing.size();) {
    const std::size_t to = std::min(listing.find('\0', from), listing.size());
    paths.push_back(listing.substr(from, to - from));
    query += commit + ":" + paths.back() + "\n";
    from = to + 1;
  }
  // "HASH blob SIZE\n" CONTENTS "\n", in the order of the query.
  WHET_TRY(const std::string contents, run(folder, {"cat-file", "--batch"}, query));
  std::map<std::string, std::string> files;
  std::size_t at = 0;
  for (const std::string& path : paths) {
    const std::size_t end = contents.find('\n', at);
    const std::size_t space = contents.rfind(' ', end);
    std::size_t size = 0;
    if (end == std::string::npos || space == std::string::npos || space < at ||
        std::from_chars(&contents[space + 1], &contents[end], size).ec != std::errc{} || end + 1 + size > contents.size())
      return machine_failed("{}: git cat-file gave no contents for {} of commit {}", folder, path, commit);
    files[path] = contents.substr(end + 1, size);
    at = end + 1 + size + 1;
  }
  return files;
}

}  // namespace whet
