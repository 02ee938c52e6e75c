// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/error.h"
#include "record/kernel_facts.h"
#include "record/verdict.h"
#include "truth/build/compiler.h"
#include "truth/build/nvcc.h"

namespace whet {

struct BuildOptions {
  std::filesystem::path cache_folder;          // made if absent
  uint64_t cache_bytes = uint64_t{2} << 30;    // least recently used entries go beyond it
  std::filesystem::path work_parent = "/tmp";  // a temporary folder is made in it for the time of a build; make() removes abandoned ones
  std::string cxx, cc;                         // absolute; empty: found
  std::vector<int> cores;  // that compilers may use; as many compile at once. Empty: ours, two at once
  std::chrono::milliseconds time_limit{120'000};  // per compiler call
  std::chrono::milliseconds nvcc_time_limit{300'000};  // per nvcc call, which runs ten programs one after the other
  uint64_t memory_bytes = uint64_t{4} << 30;      // per compiler call
  uint64_t file_bytes = uint64_t{256} << 20;
  std::vector<std::string> nvcc_folders;  // where nvcc is looked for before /usr/local/cuda/bin, in order
  std::string gpu_arch = "90a";  // that device code is compiled for, unless the Solution's own flags name one: 90a, 100a, 86, ...
};

// Source, already resolved (globs read, contents here).
struct BuildInput {
  std::map<std::string, std::string>
      sources;  // path below the Solution -> contents; .c .cc .cpp .cxx .cu are compiled, all can be included
  std::vector<std::string> cflags, ld_flags;
  std::vector<std::string> dependencies;  // "openblas", "onednn"
  std::string abi_header;  // contents of whet/candidate.h, found as <whet/candidate.h> and "whet/candidate.h"
};

// What came of it: data, whatever the Solution did.
struct BuildOutcome {
  Verdict verdict;                 // Code::correct, or 1xx with the log as evidence
  std::string log;                 // of compilers and linker, warnings too; head and tail, at most 64 KiB
  std::filesystem::path artifact;  // the shared library, in the cache
  std::string artifact_sha256;
  std::string compiler;               // its version; with nvcc's where that was used
  std::string native;                 // what -march=native meant; empty when no flag says native
  std::vector<std::string> commands;  // as run in the Solution's folder; "$WORK" stands for the temporary folder
  double seconds = 0;
  int objects = 0, objects_from_cache = 0;
  bool artifact_from_cache = false;
  KernelReport device;  // what ptxas said of the kernels in .cu files, cached or not

  bool ok() const { return verdict.code == Code::correct; }
};

// Builds Solutions in jails. Safe to call from several threads.
class Builder {
 public:
  // An Error when there is no compiler or the cache cannot be made.
  static Expected<Builder> make(BuildOptions options);

  // An Error is a failure of the machine (a full disk, no jail); all that a Solution can cause is in the outcome.
  Expected<BuildOutcome> build(const BuildInput& input) const;

  const Compiler& compiler() const;
  const Nvcc& nvcc() const;  // looked for at the first call that needs it

  Builder(Builder&&) noexcept;
  Builder& operator=(Builder&&) noexcept;
  ~Builder();

 private:
  struct State;
  explicit Builder(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace whet
