// SPDX-License-Identifier: Apache-2.0
#include "search/workspace.h"

#include <fcntl.h>
#include <sys/file.h>

#include <cerrno>
#include <chrono>
#include <ctime>
#include <filesystem>
#include <thread>

namespace whet {
namespace {

namespace fs = std::filesystem;

constexpr std::chrono::milliseconds kPatience{2000}, kNap{10};  // for the lock

std::string candidate_ref(const std::string& solution_hash) { return "refs/whet/candidates/" + solution_hash; }

std::string message_of(const CandidateCommit& candidate) {
  std::string first = candidate.summary.substr(0, candidate.summary.find('\n'));
  std::string message = fmt::format("{}\n\nWhet-Evaluation: {}\nWhet-Solution: {}\n", first.empty() ? "candidate" : first, candidate.evaluation,
                                    candidate.solution_hash);
  for (const std::string& family : candidate.families) message += fmt::format("Whet-Family: {}\n", family);
  return message;
}

// A path in git fast-import's C style.
std::string quoted(const std::string& path) {
  std::string result = "\"";
  for (char c : path) {
    if (c == '"' || c == '\\') result += '\\';
    result += c;
  }
  return result + "\"";
}

}  // namespace

Status Workspace::take_lock() {
  const std::string path = folder_ + "/lock";
  lock_ = Descriptor(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644));
  if (!lock_) return system_error("open " + path, errno);
  git_.share(lock_);
  // A git of a whet that was killed may need a moment to end.
  for (auto left = kPatience; ::flock(lock_.get(), LOCK_EX | LOCK_NB) != 0; left -= kNap) {
    if (errno != EWOULDBLOCK) return system_error("flock " + path, errno);
    if (left <= left.zero()) return bad_input("{}: another whet process is driving this run; wait for it or end it", folder_);
    std::this_thread::sleep_for(kNap);
  }
  return {};
}

Status Workspace::remove_leftovers() {
  // We hold the run's lock, so no git of ours is at work; one that was killed may have left these.
  std::error_code code;
  std::vector<fs::path> stale;
  const auto find = [&](const std::string& folder, const auto& is_stale) {
    for (fs::recursive_directory_iterator at(folder, code), end; !code && at != end; at.increment(code))
      if (is_stale(at->path().filename().string())) stale.push_back(at->path());
  };
  find(repo(), [](const std::string& name) { return name.ends_with(".lock") || name.starts_with("fast_import_crash_"); });
  find(repo() + "/objects", [](const std::string& name) { return name.starts_with("tmp_"); });
  for (const fs::path& path : stale) fs::remove(path, code);
  return {};
}

Expected<Workspace> Workspace::create(const std::string& folder, const std::map<std::string, std::string>& task_files,
                                      const std::map<std::string, std::string>& start, Git git) {
  Workspace workspace(folder, std::move(git));
  WHET_OK(make_folders(folder));
  WHET_OK(workspace.take_lock());
  if (fs::exists(workspace.repo())) {
    const auto candidates = workspace.git_.run(workspace.repo(), {"for-each-ref", "refs/whet", "refs/tags"});
    if (!candidates || !candidates->empty()) return bad_input("{}: a run is there already; resume it or choose another folder", folder);
  }
  // Everything is prepared under another name, so that a run is there whole or not at all.
  const std::string made = folder + "/repo.new";
  std::error_code code;
  for (const std::string& old : {workspace.repo(), made, folder + "/task"}) fs::remove_all(old, code);
  WHET_OK(write_tree(folder + "/task", task_files));
  WHET_TRY(const std::string said, workspace.git_.run(folder, {"init", "-q", "--bare", "repo.new"}));
  WHET_TRY(workspace.start_commit_, workspace.import(made, "refs/heads/main", "", "start\n", start));
  WHET_TRY(const std::string moved, workspace.git_.run(made, {"update-ref", "refs/heads/champion", workspace.start_commit_}));
  fs::rename(made, workspace.repo(), code);
  if (code) return machine_failed("rename {} to {}: {}", made, workspace.repo(), code.message());
  return workspace;
}

Expected<Workspace> Workspace::open(const std::string& folder, Git git) {
  if (!fs::exists(folder + "/repo")) return bad_input("{}: no run has begun there; 'whet optimize' begins it", folder);
  Workspace workspace(folder, std::move(git));
  WHET_OK(workspace.take_lock());
  WHET_OK(workspace.remove_leftovers());
  WHET_TRY_IN("the run's start", workspace.start_commit_, workspace.git_.run(workspace.repo(), {"rev-parse", "--verify", "-q", "refs/heads/main"}));
  return workspace;
}

Expected<std::map<std::string, std::string>> Workspace::task_files() const { return read_tree(folder_ + "/task"); }

Expected<std::string> Workspace::find(const std::string& solution_hash) const {
  return git_.run(repo(), {"for-each-ref", "--format=%(objectname)", candidate_ref(solution_hash)});
}

Expected<std::string> Workspace::import(const std::string& repo, const std::string& ref, const std::string& parent, const std::string& message,
                                        const std::map<std::string, std::string>& files) {
  // "feature done": a stream that ends early changes nothing.
  std::string stream = fmt::format("feature done\ncommit {}\nmark :1\ncommitter whet <whet@localhost> {} +0000\ndata {}\n{}\n", ref,
                                   std::time(nullptr), message.size(), message);
  if (!parent.empty()) stream += fmt::format("from {}\ndeleteall\n", parent);
  for (const auto& [path, contents] : files) {
    if (!is_plain_relative_path(path)) return bad_input("the file name '{}' cannot be committed; use plain relative paths", path);
    stream += fmt::format("M 100644 inline {}\ndata {}\n", quoted(path), contents.size());
    stream += contents;
    stream += '\n';
  }
  stream += "get-mark :1\ndone\n";
  return git_.run(repo, {"fast-import", "--quiet", "--force"}, stream);
}

Expected<std::string> Workspace::commit(const CandidateCommit& candidate) {
  WHET_TRY(std::string known, find(candidate.solution_hash));
  if (!known.empty()) return known;
  return import(repo(), candidate_ref(candidate.solution_hash), candidate.parent, message_of(candidate), candidate.files);
}

Status Workspace::set_champion(const std::string& commit, int number, const std::string& evaluation) {
  const std::string tag = fmt::format("champion-{}", number);
  WHET_TRY(const std::string tagged,
           git_.run(repo(), {"tag", "-f", "-a", "-m", fmt::format("champion {}\n\nWhet-Evaluation: {}", number, evaluation), tag, commit}));
  WHET_TRY(const std::string moved, git_.run(repo(), {"update-ref", "refs/heads/champion", commit}));
  return {};
}

Expected<std::string> Workspace::clone_at(const std::string& commit) {
  const std::string clone = folder_ + "/clone";
  std::error_code code;
  fs::remove_all(clone, code);
  if (code) return machine_failed("remove {}: {}", clone, code.message());
  WHET_TRY(const std::string cloned, git_.run(folder_, {"clone", "-q", "--shared", "--no-checkout", "--template=", "repo", "clone"}));
  WHET_TRY(const std::string out, git_.run(clone, {"checkout", "-q", "--detach", commit}));
  return clone;
}

Expected<std::map<std::string, std::string>> Workspace::read_clone() const { return read_tree(folder_ + "/clone"); }

}  // namespace whet
