// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/file.h"
#include "search/git.h"

namespace whet {

// A Candidate as a commit. Its tree is the Solution's folder.
struct CandidateCommit {
  std::map<std::string, std::string> files;
  std::string parent;         // a commit; the champion from which it was made
  std::string summary;        // first line of the message
  std::string evaluation;     // trailers Whet-Evaluation, Whet-Solution, Whet-Family (one a family)
  std::string solution_hash;
  std::vector<std::string> families;
};

// A run's folder:
//   lock      flock: one process drives a run; its gits share the lock, so it is free only when those too have ended
//   task/     the task as it was when the run began
//   repo/     the run's git repository: main = the start Solution, champion, tags champion-1, champion-2, ..., and one ref a Candidate
//             under refs/whet/candidates/ (named by its Solution's hash)
//   clone/    the Agent's clone (git clone --shared), made anew for every Step: what an Agent does to a repository of its own cannot
//             make us run anything later
class Workspace {
 public:
  // Makes the folder and the repository with `start` as main and champion; the repository appears last and whole. An error if a run is there
  // already, unless nothing was committed in it beside its start: a run that was killed while it began is begun anew.
  static Expected<Workspace> create(const std::string& folder, const std::map<std::string, std::string>& task_files,
                                    const std::map<std::string, std::string>& start, Git git = Git());
  // Opens it and takes the lock; an error says that another process has it. What a killed git left half-made is removed.
  static Expected<Workspace> open(const std::string& folder, Git git = Git());

  const std::string& folder() const { return folder_; }
  const std::string& start_commit() const { return start_commit_; }
  Expected<std::map<std::string, std::string>> task_files() const;

  // The commit of a Candidate that was committed before, else empty.
  Expected<std::string> find(const std::string& solution_hash) const;
  // Whole or not at all. Committing a Candidate again gives the commit that is there.
  Expected<std::string> commit(const CandidateCommit& candidate);
  // Moves `champion` there and sets the tag champion-NUMBER with the confirming Evaluation in its message. May be repeated.
  Status set_champion(const std::string& commit, int number, const std::string& evaluation);

  // A fresh clone that stands at `commit`; its folder.
  Expected<std::string> clone_at(const std::string& commit);
  // The files that the Agent left in its clone.
  Expected<std::map<std::string, std::string>> read_clone() const;

 private:
  Workspace(std::string folder, Git git) : folder_(std::move(folder)), git_(std::move(git)) {}
  std::string repo() const { return folder_ + "/repo"; }
  Status take_lock();
  Status remove_leftovers();
  Expected<std::string> import(const std::string& repo, const std::string& ref, const std::string& parent, const std::string& message,
                               const std::map<std::string, std::string>& files);

  std::string folder_;
  Git git_;
  Descriptor lock_;
  std::string start_commit_;
};

}  // namespace whet
