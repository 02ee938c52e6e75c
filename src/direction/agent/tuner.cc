// SPDX-License-Identifier: Apache-2.0
#include "direction/agent/tuner.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <set>

#include "base/file.h"

namespace whet {
namespace {

constexpr double kLargeGain = 0.35;     // nats of the geomean since the last challenge: challenge at once
constexpr double kWorthwhile = 0.05;    // ... after kSettled trials
constexpr int kSettled = 8;
constexpr double kSmallestGain = 0.004; // below this a last challenge is not worth its time

// A bootstrap of three samples that happen to agree promises too much.
constexpr double kSmallestDeviation = 0.008;

using Files = std::map<std::string, std::string>;

class Tuner final : public Agent {
 public:
  static Expected<std::unique_ptr<Agent>> make(const AgentSetup& setup);
  Expected<StepReport> step(const StepContext& context) override;
  Status observe(const Judged& judged) override;

 private:
  void learn_times(const Evaluation& evaluation);
  void learn_build_failure(const std::vector<Choice>& chosen, const std::vector<Choice>& champion);
  void learn_workload(FamilyStudy& study, const Point& point, const Point& champion, const WorkloadResult& result, const Evaluation& evaluation);
  double gain_since(const std::vector<Choice>& champion) const;

  std::optional<StepReport> second_look(Files& files);
  std::optional<StepReport> challenge(const std::vector<Choice>& champion, bool last_call, Files& files) const;
  std::optional<StepReport> trial(const std::vector<Choice>& champion, Files& files);
  static StepReport explore(std::vector<std::string> families, std::vector<std::string> workloads, double give_up_below, std::string summary);

  std::vector<FamilyStudy> studies_;
  std::vector<Choice> looked_at_;           // of the last trial, while a second look at some of its families is due
  std::vector<std::string> second_look_at_; // families
  std::vector<std::map<std::string, std::string>> singles_;  // choices of one family each, to be tried alone after a failed build
  std::set<std::vector<Point>> challenged_; // merged configurations that have been challenges
  int trials_since_challenge_ = 0;
};

std::map<std::string, std::string> values_of(const std::vector<Choice>& choices) {
  std::map<std::string, std::string> values;
  for (const Choice& choice : choices) values[choice.name] = choice.value;
  return values;
}

Status set_choices(Files& files, const std::map<std::string, std::string>& values) {
  WHET_TRY(files, rewrite_choices(files, values));
  return {};
}

Expected<std::unique_ptr<Agent>> Tuner::make(const AgentSetup& setup) {
  WHET_TRY(const std::vector<Choice> choices, parse_choices(setup.start));
  if (choices.empty())
    return bad_input("the start Solution '{}' declares no choice, so the tuner has nothing to tune; a choice is a line 'inline constexpr int kTile "
                     "= 32;  // whet:tune {{16, 32, 64}} family=NAME'",
                     setup.task->start);
  std::map<std::string, std::vector<const Workload*>> members;
  for (const Workload* workload : setup.task->set(setup.set)) members[workload->family].push_back(workload);
  std::map<std::string, std::vector<Choice>> of_family;
  for (const Choice& choice : choices) {
    const bool exists = std::ranges::any_of(setup.task->workloads, [&](const Workload& workload) { return workload.family == choice.family; });
    if (!exists) return bad_input("{}:{}: {}: no workload of the task is of family '{}'", choice.file, choice.line, choice.name, choice.family);
    if (members.contains(choice.family)) of_family[choice.family].push_back(choice);
  }
  if (of_family.empty()) return bad_input("no choice of the start Solution tunes a family of the set '{}'", setup.set);
  auto tuner = std::make_unique<Tuner>();
  for (auto& [family, its_choices] : of_family)
    tuner->studies_.emplace_back(family, its_choices, members[family], setup.seed * 1000003 + tuner->studies_.size());
  return tuner;
}

// ---- learning

Status Tuner::observe(const Judged& judged) {
  const Evaluation& evaluation = judged.evaluation;
  if (evaluation.verdict.code == Code::cancelled || evaluation.verdict.code == Code::machine_failed) return {};
  if (!judged.champion) {
    learn_times(evaluation);
    return {};
  }
  WHET_TRY(const std::vector<Choice> chosen, parse_choices(judged.files));
  WHET_TRY(const std::vector<Choice> champion, parse_choices(*judged.champion));
  second_look_at_.clear();
  const bool alone = !singles_.empty() && [&] {
    for (const auto& [name, value] : singles_.back())
      if (std::ranges::none_of(chosen, [&](const Choice& c) { return c.name == name && c.value == value; })) return false;
    return true;
  }();
  if (alone) singles_.pop_back();
  std::vector<Point> merged;
  for (const FamilyStudy& study : studies_) merged.push_back(study.point_of(chosen));
  if (evaluation.workloads.empty()) {
    challenged_.insert(merged);
    learn_build_failure(chosen, champion);
    ++trials_since_challenge_;
    return {};
  }
  bool whole = true;
  for (FamilyStudy& study : studies_) {
    const Point point = study.point_of(chosen), yardstick = study.point_of(champion);
    int touched = 0;
    for (const WorkloadResult& result : evaluation.workloads) {
      if (result.family != study.family()) continue;
      ++touched;
      learn_workload(study, point, yardstick, result, evaluation);
    }
    whole = whole && touched == study.weight();
    if (touched == 0 || point == yardstick) continue;
    study.publish(point);
    if (study.promising(point)) second_look_at_.push_back(study.family());
  }
  if (whole) {
    challenged_.insert(merged);
    trials_since_challenge_ = 0;
  } else {
    ++trials_since_challenge_;
  }
  looked_at_ = chosen;
  return {};
}

void Tuner::learn_times(const Evaluation& evaluation) {
  for (const WorkloadResult& result : evaluation.workloads)
    for (FamilyStudy& study : studies_)
      if (study.family() == result.family && !result.trials.empty())
        study.know_time(result.workload, result.candidate().median_ns(Column::flushed));
}

// With several families changed it is unknown whose value does not compile: each is tried alone. With one, that one has failed.
void Tuner::learn_build_failure(const std::vector<Choice>& chosen, const std::vector<Choice>& champion) {
  std::vector<FamilyStudy*> changed;
  for (FamilyStudy& study : studies_)
    if (study.point_of(chosen) != study.point_of(champion) && !study.tried(study.point_of(chosen))) changed.push_back(&study);
  if (changed.size() == 1) return changed.front()->learn_failure(changed.front()->point_of(chosen));
  for (FamilyStudy* study : changed) singles_.push_back(study->values_of(study->point_of(chosen)));
}

void Tuner::learn_workload(FamilyStudy& study, const Point& point, const Point& champion, const WorkloadResult& result,
                           const Evaluation& evaluation) {
  if (point == champion || result.trials.empty()) return;
  const Verdict& verdict = result.candidate().verdict;
  const int code = static_cast<int>(verdict.code);
  if (!verdict.right()) {
    if (code < 500) study.learn_failure(point);
    return;
  }
  for (const ScoredWorkload& scored : evaluation.scoreboard.workloads) {
    if (scored.workload != result.workload) continue;
    const auto ratio = scored.versus.find(kChampion);
    if (ratio == scored.versus.end() || !(ratio->second.low > 0)) return;
    const double deviation = std::max(std::log(ratio->second.high / ratio->second.low) / 3.92, kSmallestDeviation);
    study.learn(point, champion, result.workload, std::log(ratio->second.value), deviation);
  }
}

// ---- acting

Expected<StepReport> Tuner::step(const StepContext& context) {
  WHET_TRY(const Files champion_files, read_tree(context.clone));
  WHET_TRY(const std::vector<Choice> champion, parse_choices(champion_files));
  Files files = champion_files;
  std::optional<StepReport> report;
  if (!report && !context.last_call) report = second_look(files);
  if (!report) report = challenge(champion, context.last_call, files);
  if (!report && !context.last_call) report = trial(champion, files);
  if (!report && !context.last_call) report = challenge(champion, true, files);
  if (!report) return StepReport{.finished = true, .summary = "nothing more to try"};
  for (const auto& [path, text] : files)
    if (champion_files.at(path) != text) WHET_OK(write_file_atomically(std::filesystem::path(context.clone) / path, text));
  return *report;
}

StepReport Tuner::explore(std::vector<std::string> families, std::vector<std::string> workloads, double give_up_below, std::string summary) {
  return {.summary = std::move(summary),
          .families = std::move(families),
          .effort = {.challenge = false, .workloads = std::move(workloads), .min_draws = 3, .max_draws = 6, .seconds_per_workload = 0.25,
                     .give_up_below = give_up_below}};
}

std::optional<StepReport> Tuner::second_look(Files& files) {
  std::vector<std::string> families, workloads;
  for (const FamilyStudy& study : studies_) {
    if (std::ranges::find(second_look_at_, study.family()) == second_look_at_.end()) continue;
    families.push_back(study.family());
    for (const std::string& workload : study.not_measured(study.point_of(looked_at_))) workloads.push_back(workload);
  }
  second_look_at_.clear();  // a workload that gives no time is not looked at for ever
  if (workloads.empty() || !set_choices(files, values_of(looked_at_))) return std::nullopt;
  std::string summary = fmt::format("second look: {}", fmt::join(families, ", "));
  return explore(std::move(families), std::move(workloads), 0, std::move(summary));
}

double Tuner::gain_since(const std::vector<Choice>& champion) const {
  double gain = 0, weights = 0;
  for (const FamilyStudy& study : studies_) {
    weights += study.weight();
    const double now = study.cost(study.point_of(champion));
    if (std::isfinite(now)) gain += study.weight() * std::max(0.0, now - study.cost(study.best_known()));
  }
  return gain / weights;
}

std::optional<StepReport> Tuner::challenge(const std::vector<Choice>& champion, bool last_call, Files& files) const {
  const double gain = gain_since(champion);
  const bool due = gain >= kLargeGain ? trials_since_challenge_ >= 2 : gain >= kWorthwhile && trials_since_challenge_ >= kSettled;
  if (!(due || (last_call && gain >= kSmallestGain))) return std::nullopt;
  std::map<std::string, std::string> values;
  std::vector<std::string> families;
  std::vector<Point> merged;
  for (const FamilyStudy& study : studies_) {
    const Point best = study.best_known();
    merged.push_back(best);
    values.merge(study.values_of(best));
    if (best != study.point_of(champion)) families.push_back(study.family());
  }
  if (challenged_.contains(merged) || !set_choices(files, values)) return std::nullopt;
  return StepReport{.summary = fmt::format("merge of {}: {:.1f} % expected", fmt::join(families, ", "), 100 * std::expm1(gain)),
                    .families = families,
                    .effort = {.challenge = true, .workloads = {}, .min_draws = 4, .max_draws = 8, .seconds_per_workload = 0.4}};
}

std::optional<StepReport> Tuner::trial(const std::vector<Choice>& champion, Files& files) {
  std::map<std::string, std::string> values = values_of(champion);
  std::vector<std::string> families, workloads;
  for (FamilyStudy& study : studies_) {
    std::optional<Point> point;
    if (singles_.empty()) {
      point = study.propose();
    } else {
      // The champion's values everywhere but in the family of the last single.
      if (!study.values_of(study.point_of(champion)).contains(singles_.back().begin()->first)) continue;
      for (const auto& [name, value] : singles_.back()) values[name] = value;
    }
    if (point && study.promise() < Optimiser::kNoPromise) continue;
    if (point)
      for (const auto& [name, value] : study.values_of(*point)) values[name] = value;
    else if (singles_.empty())
      continue;
    families.push_back(study.family());
    for (const std::string& workload : study.representatives()) workloads.push_back(workload);
  }
  if (workloads.empty() || !set_choices(files, values)) return std::nullopt;
  std::string summary = fmt::format("trial: {}", fmt::join(families, ", "));
  return explore(std::move(families), std::move(workloads), 0.9, std::move(summary));
}

}  // namespace

Expected<std::unique_ptr<Agent>> make_tuner(const AgentSetup& setup) { return Tuner::make(setup); }

}  // namespace whet
