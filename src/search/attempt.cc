// SPDX-License-Identifier: Apache-2.0
#include "search/attempt.h"

#include <algorithm>
#include <set>

#include "base/hash.h"
#include "base/json_impl.h"
#include "record/glob.h"
#include "task/load.h"

namespace whet {
namespace {

bool is_editable(const Task& task, const std::string& path) {
  return std::ranges::any_of(task.editable, [&](const std::string& pattern) { return glob_matches(pattern, path); });
}

Manifest add_to(std::map<std::string, std::string>& blobs, const Files& files) {
  Manifest manifest;
  for (const auto& [path, contents] : files) {
    const std::string hash = sha256_hex(contents);
    manifest[path] = hash;
    blobs.try_emplace(hash, contents);
  }
  return manifest;
}

Expected<SolutionRef> reference_to(const TaskFolder& task, const NamedSolution& solution, std::map<std::string, std::string>& blobs) {
  if (!solution.files.empty()) return SolutionRef{solution.name, add_to(blobs, solution.files)};
  if (solution_files(task.files, solution.name).empty()) return bad_input("task '{}' has no Solution '{}'", task.task.name, solution.name);
  return SolutionRef{solution.name, {}};
}

std::string hash_of(const EvaluateRequest& request) { return sha256_hex(to_json(request).dump()); }

Status collect(Store& store, const Manifest& manifest, std::map<std::string, std::string>& blobs) {
  for (const auto& [path, hash] : manifest) {
    if (blobs.contains(hash)) continue;
    WHET_TRY_IN(path, blobs[hash], store.blob(hash));
  }
  return {};
}

}  // namespace

Files take_editable(const Task& task, const Files& start, const Files& candidate) {
  Files result;
  for (const auto& [path, contents] : start)
    if (!is_editable(task, path)) result[path] = contents;
  for (const auto& [path, contents] : candidate)
    if (is_editable(task, path)) result[path] = contents;
  return result;
}

Expected<std::string> hash_of(const Files& solution, const std::string& where) {
  std::vector<std::string> complaints;
  const Solution read = solution_from_files(solution, where, complaints);
  if (!complaints.empty()) return bad_input("{}", fmt::join(complaints, "\n"));
  return solution_hash(read);
}

Expected<Attempted> attempt(const TaskFolder& task, const Attempt& what, WorkerSeat& worker, Store& store, const Patience& patience,
                            const std::function<void(const Json&)>& progress) {
  std::map<std::string, std::string> blobs;
  EvaluateRequest request = what.settings;
  request.task = add_to(blobs, task.files);
  WHET_TRY(request.solution, reference_to(task, what.solution, blobs));
  if (what.baselines) {
    request.baselines.emplace();
    for (const NamedSolution& baseline : *what.baselines) {
      WHET_TRY(SolutionRef one, reference_to(task, baseline, blobs));
      request.baselines->push_back(std::move(one));
    }
  }
  const Files files = what.solution.files.empty() ? solution_files(task.files, what.solution.name) : what.solution.files;
  WHET_TRY(const std::string solution, hash_of(files, what.solution.name));
  const std::string request_hash = hash_of(request);

  JudgedRecord judged{.run = what.run,
                      .sequence = what.sequence,
                      .purpose = what.purpose,
                      .request = std::move(request),
                      .request_hash = {},
                      .evaluation = {},
                      .summary = what.summary,
                      .families = what.families,
                      .usage = what.usage};
  judged.request_hash = hash_of(judged.request);
  if (what.reuse) {
    WHET_TRY(std::optional<Evaluation> known, store.find(what.run, solution, judged.request_hash));
    if (known && machine_failure_in(*known) == nullptr) {
      judged.evaluation = *std::move(known);
      return Attempted{.judged = std::move(judged), .reused = true};
    }
  }
  WHET_TRY(judged.evaluation, worker.evaluate(judged.request, blobs, patience, progress));
  if (judged.evaluation.verdict.code == Code::cancelled) return Attempted{.judged = std::move(judged), .cancelled = true};
  if (judged.evaluation.solution_hash != solution)
    return machine_failed("the worker judged the Solution {} instead of {}; is it of another version?", judged.evaluation.solution_hash, solution);
  // In a run it would be the answer for good, and it is none.
  if (const Verdict* failure = machine_failure_in(judged.evaluation); failure && !what.run.empty())
    return machine_failed("the machine failed twice on the same evaluation; {}", failure->sentence);
  if (what.wall_seconds) judged.wall_seconds = what.wall_seconds();
  WHET_OK(store.record(judged, blobs));
  return Attempted{.judged = std::move(judged)};
}

Expected<Attempted> measure_again(const JudgedRecord& old, WorkerSeat& worker, Store& store, const Patience& patience,
                                  const std::function<void(const Json&)>& progress) {
  std::map<std::string, std::string> blobs;
  WHET_OK(collect(store, old.request.task, blobs));
  WHET_OK(collect(store, old.request.solution.manifest, blobs));
  for (const SolutionRef& baseline : old.request.baselines.value_or(std::vector<SolutionRef>{})) WHET_OK(collect(store, baseline.manifest, blobs));
  JudgedRecord fresh{.run = {}, .sequence = 0, .purpose = Purpose::recheck, .request = old.request};
  fresh.request.confirm_of = old.evaluation.id;
  fresh.request_hash = hash_of(fresh.request);
  WHET_TRY(fresh.evaluation, worker.evaluate(fresh.request, blobs, patience, progress));
  if (fresh.evaluation.verdict.code == Code::cancelled) return Attempted{.judged = std::move(fresh), .cancelled = true};
  WHET_OK(store.record(fresh, blobs));
  return Attempted{.judged = std::move(fresh)};
}

}  // namespace whet
