// SPDX-License-Identifier: Apache-2.0
#include "search/run.h"

#include <algorithm>
#include <cctype>
#include <cmath>

#include "base/hash.h"
#include "base/json_impl.h"
#include "search/clock.h"
#include "task/load.h"

namespace whet {
namespace {

constexpr int kHiddenOfChampion = 4;  // workloads that a new champion has never seen
constexpr int kIdleSteps = 5;  // steps in a row that left nothing new to judge: the Agent is going round in circles

bool is_run_id(const std::string& id) {
  return !id.empty() && id.size() <= 64 && std::ranges::all_of(id, [](unsigned char c) { return std::isalnum(c) != 0 || c == '-'; });
}

// A first look: enough to know what is slow, not a score.
EvaluateRequest quick_settings(const std::string& set) {
  EvaluateRequest settings;
  settings.set = set;
  settings.columns = {Column::flushed};
  settings.min_draws = 3;
  settings.max_draws = 6;
  settings.seconds_per_workload = 0.4;
  settings.target_half_width = 0.02;
  settings.admission = false;
  return settings;
}

EvaluateRequest settings_of(const Effort& effort, const std::string& set) {
  EvaluateRequest settings = quick_settings(set);
  settings.min_draws = effort.min_draws;
  settings.max_draws = effort.max_draws;
  settings.seconds_per_workload = effort.seconds_per_workload;
  settings.target_half_width = 0.01;
  if (effort.challenge) return settings;
  settings.workloads = effort.workloads;
  settings.give_up_below = effort.give_up_below;
  settings.noise_floor = false;
  return settings;
}

Status check_setting(const RunSetting& setting) {
  if (!is_run_id(setting.run_id)) return bad_input("'{}' is no name for a run; use up to 64 letters, digits and '-'", setting.run_id);
  return {};
}

}  // namespace

// ---- beginning

Run::Run(OptimizeOptions options, RunSetting setting, Workspace workspace)
    : options_(std::move(options)), setting_(std::move(setting)), workspace_(std::move(workspace)), worker_(setting_.open_worker) {
  if (!setting_.clock) setting_.clock = steady_seconds;
  began_at_ = setting_.clock();
}

Expected<std::unique_ptr<Run>> Run::begin(const Files& task_files, const OptimizeOptions& options, const RunSetting& setting) {
  WHET_OK(check_setting(setting));
  WHET_TRY(const Task task, load_task(task_files, ""));
  const Files start = solution_files(task_files, task.start);
  if (task.set(options.set).empty()) return bad_input("task '{}' has no set '{}'", task.name, options.set);
  // Whatever can be wrong with the input is found before anything is written.
  WHET_TRY(const std::unique_ptr<Agent> probe,
           make_agent(options.agent, {.task = &task, .set = options.set, .start = start, .seed = options.seed}));
  // The ledger is told last: a run that it knows has all that resume() needs, and one that it does not know has not begun.
  if (setting.store->run(setting.run_id))
    return bad_input("there is a run '{}' already; 'whet resume' goes on with it, or choose another name", setting.run_id);
  WHET_TRY(Workspace workspace, Workspace::create(setting.folder, task_files, start));
  WHET_OK(setting.store->begin_run({.id = setting.run_id,
                                    .task = task.name,
                                    .task_hash = tree_hash(task_files),
                                    .agent = options.agent,
                                    .started_at = now_utc(),
                                    .folder = setting.folder,
                                    .options = to_json(options).dump()}));
  std::unique_ptr<Run> run(new Run(options, setting, std::move(workspace)));
  WHET_OK(run->load(task_files));
  run->tell(Progress::Kind::begun, fmt::format("run {} on {}", setting.run_id, task.name));
  return run;
}

Expected<std::unique_ptr<Run>> Run::reopen(const RunSetting& setting, double more_wall_seconds) {
  WHET_OK(check_setting(setting));
  const Expected<RunRecord> known = setting.store->run(setting.run_id);
  if (!known && known.error().blame == Blame::input)
    return bad_input("{}: the ledger has no run '{}'; if it was killed before it had begun, 'whet optimize' begins it, else another ledger has it (--ledger)", setting.folder,
                     setting.run_id);
  WHET_TRY(const RunRecord record, known);
  WHET_TRY(const Json json, parse_json(record.options, "run " + record.id));
  WHET_TRY(OptimizeOptions options, optimize_options_from_json(json, "run " + record.id));
  options.budget.wall_seconds.soft += more_wall_seconds;
  options.budget.wall_seconds.hard += more_wall_seconds;
  WHET_TRY(Workspace workspace, Workspace::open(setting.folder));
  WHET_TRY(const Files task_files, workspace.task_files());
  if (tree_hash(task_files) != record.task_hash)
    return bad_input("{}/task: the files are not those with which run {} began; restore them or begin a new run", setting.folder, record.id);
  std::unique_ptr<Run> run(new Run(options, setting, std::move(workspace)));
  WHET_OK(run->load(task_files));
  run->extended_ = more_wall_seconds > 0;
  WHET_OK(run->replay());
  run->tell(Progress::Kind::resumed, fmt::format("run {}: {} evaluations in the ledger", record.id, run->sequence_));
  return run;
}

Status Run::load(const Files& task_files) {
  WHET_TRY(Task task, load_task(task_files, ""));
  task_ = {std::move(task), task_files};
  start_ = solution_files(task_files, task_.task.start);
  WHET_TRY(const std::string hash, hash_of(start_, task_.task.start));
  files_of_[hash] = start_;
  commit_of_[hash] = workspace_.start_commit();
  lineage_.emplace(hash, static_cast<int>(task_.task.set(options_.set).size()));
  WHET_TRY(agent_, make_agent(options_.agent, {.task = &task_.task, .set = options_.set, .start = start_, .seed = options_.seed}));
  return {};
}

Status Run::replay() {
  WHET_TRY(const std::vector<JudgedRecord> past, setting_.store->judged(setting_.run_id));
  for (const JudgedRecord& judged : past) {
    const std::string& hash = judged.evaluation.solution_hash;
    if (!files_of_.contains(hash)) {
      WHET_TRY(files_of_[hash], files_from_ledger(judged.request.solution.manifest));
    }
    WHET_OK(take_in(judged));
    if (judged.purpose == Purpose::trial || judged.purpose == Purpose::challenge) ++steps_;
    wall_before_ = judged.wall_seconds;
  }
  return {};
}

Expected<Files> Run::files_from_ledger(const Manifest& manifest) const {
  Files files;
  for (const auto& [path, hash] : manifest) {
    WHET_TRY_IN(path, files[path], setting_.store->blob(hash));
  }
  return files;
}

// ---- one thing judged

Attempt Run::attempt_of(const Files& files, Purpose purpose) const {
  Attempt what;
  what.solution = {"candidate", files};
  what.baselines = {{kChampion, files_of_.at(lineage_->champion())}};
  what.settings = quick_settings(options_.set);
  what.purpose = purpose;
  return what;
}

Expected<std::optional<JudgedRecord>> Run::judge(Attempt what, const Patience& patience) {
  what.run = setting_.run_id;
  what.sequence = sequence_;
  what.usage = unrecorded_;
  what.wall_seconds = [this] { return wall_seconds(); };
  const Files files = what.solution.files;
  WHET_TRY(Attempted attempted, attempt(task_, what, worker_, *setting_.store, patience,
                                        [this](const Json& message) { tell(Progress::Kind::worker, "", nullptr, &message); }));
  if (attempted.cancelled) return std::nullopt;
  if (attempted.reused) return std::optional(std::move(attempted.judged));
  unrecorded_ = {};
  files_of_.try_emplace(attempted.judged.evaluation.solution_hash, files);
  WHET_OK(take_in(attempted.judged));
  return std::optional(std::move(attempted.judged));
}

// What follows from a record in the ledger, whether it was just written or is read again: so nothing here may be lost, and all of it may be repeated.
Status Run::take_in(const JudgedRecord& judged) {
  const std::string champion_before = lineage_->champion();
  WHET_OK(commit_candidate(judged));
  lineage_->apply(judged);
  ++sequence_;
  usage_ += judged.usage;
  device_seconds_ += judged.evaluation.seconds.total;
  if (lineage_->champion() != champion_before)
    WHET_OK(workspace_.set_champion(commit_of_.at(lineage_->champion()), lineage_->champion_number(), lineage_->confirmed_by()));
  if (judged.purpose == Purpose::final) return {};
  const bool against_champion = judged.purpose != Purpose::baseline;
  return agent_->observe({files_of_.at(judged.evaluation.solution_hash), against_champion ? &files_of_.at(champion_before) : nullptr, judged.evaluation});
}

Status Run::commit_candidate(const JudgedRecord& judged) {
  const std::string& hash = judged.evaluation.solution_hash;
  if (commit_of_.contains(hash)) return {};
  WHET_TRY(commit_of_[hash], workspace_.commit({.files = files_of_.at(hash),
                                                .parent = commit_of_.at(lineage_->champion()),
                                                .summary = judged.summary,
                                                .evaluation = judged.evaluation.id,
                                                .solution_hash = hash,
                                                .families = judged.families}));
  return {};
}

// ---- the loop

Expected<OptimizeResult> Run::drive() {
  if (lineage_->final() && !extended_) {
    ended_ = "finished: the champion has been judged";
    return result();
  }
  WHET_OK(look_at_start());
  for (;;) {
    WHET_TRY(const Next next, one_step());
    if (next == Next::end) break;
  }
  if (!stopped()) WHET_OK(judge_champion());
  if (stopped()) ended_ = "stopped";
  WHET_OK(setting_.store->end_run(setting_.run_id, ended_));
  tell(Progress::Kind::ended, ended_);
  return result();
}

Status Run::look_at_start() {
  if (lineage_->baseline()) return {};
  tell(Progress::Kind::phase, "a first look at the start and the baselines");
  Attempt what = attempt_of(start_, Purpose::baseline);
  what.solution.name = task_.task.start;
  what.baselines.reset();
  WHET_TRY(const std::optional<JudgedRecord> judged, judge(std::move(what), patience(true)));
  if (judged) tell(Progress::Kind::judged, judged->evaluation.verdict.sentence, &judged->evaluation);
  return {};
}

Expected<Run::Next> Run::one_step() {
  if (stopped()) return Next::end;
  const BudgetState state = check(options_.budget, spent());
  if (state.stop == Stop::hard) {
    ended_ = "budget: " + state.limit;
    return Next::end;
  }
  if (lineage_->to_confirm()) {
    WHET_OK(confirm());
    return Next::go_on;
  }
  if (options_.stop_at_goal && goal_reached()) {
    ended_ = "goal met";
    return Next::end;
  }
  const bool last_call = state.stop == Stop::soft;
  if (last_call && !last_call_told_) tell(Progress::Kind::last_call, state.limit);
  last_call_told_ = last_call;

  const Files& champion = files_of_.at(lineage_->champion());
  WHET_TRY(const std::string clone, workspace_.clone_at(commit_of_.at(lineage_->champion())));
  const double left = options_.budget.wall_seconds.hard - wall_seconds();
  WHET_TRY(const StepReport report, agent_->step({.clone = clone, .brief = {}, .seconds_left = left, .last_call = last_call, .stop = setting_.stop}));
  usage_ += report.usage;
  unrecorded_ += report.usage;
  if (report.finished) {
    ended_ = last_call ? "budget: " + state.limit : "finished: " + report.summary;
    return Next::end;
  }
  ++steps_;
  WHET_TRY(const Files left_behind, workspace_.read_clone());
  const Files candidate = take_editable(task_.task, start_, left_behind);
  const auto refuse = [&](const std::string& why) {
    tell(Progress::Kind::refused, why);
    if (++idle_steps_ < kIdleSteps) return Next::go_on;
    ended_ = fmt::format("finished: {} steps in a row left nothing new to judge", kIdleSteps);
    return Next::end;
  };
  if (candidate == champion) return refuse("the step changed no editable file");
  if (auto hash = hash_of(candidate, "candidate"); !hash) return refuse(hash.error().what);

  Attempt what = attempt_of(candidate, report.effort.challenge ? Purpose::challenge : Purpose::trial);
  what.settings = settings_of(report.effort, options_.set);
  what.summary = report.summary;
  what.families = report.families;
  const int before = sequence_;
  WHET_TRY(const std::optional<JudgedRecord> judged, judge(std::move(what), patience(true)));
  if (!judged) return Next::go_on;  // cancelled: the user or the budget, which the next step sees
  if (sequence_ == before) return refuse("the Candidate was judged before: " + judged->evaluation.id);
  idle_steps_ = 0;
  tell(Progress::Kind::judged, report.summary, &judged->evaluation);
  return Next::go_on;
}

Status Run::confirm() {
  const JudgedRecord challenge = *lineage_->to_confirm();
  tell(Progress::Kind::phase, "confirming with fresh draws");
  Attempt what = attempt_of(files_of_.at(challenge.evaluation.solution_hash), Purpose::confirm);
  what.settings = challenge.request;
  what.settings.confirm_of = challenge.evaluation.id;
  what.settings.hidden = kHiddenOfChampion;
  what.summary = challenge.summary;
  const int before = lineage_->champion_number();
  WHET_TRY(const std::optional<JudgedRecord> judged, judge(std::move(what), patience(ended_.empty())));
  if (!judged) return {};
  const bool crowned = lineage_->champion_number() != before;
  tell(crowned ? Progress::Kind::champion : Progress::Kind::judged,
       crowned ? fmt::format("champion {}: {}", lineage_->champion_number(), challenge.summary) : "not confirmed: " + challenge.summary,
       &judged->evaluation);
  return {};
}

Status Run::judge_champion() {
  if (lineage_->to_confirm()) WHET_OK(confirm());
  if (stopped()) return {};
  tell(Progress::Kind::phase, "the final judgement of the champion");
  Attempt what = attempt_of(files_of_.at(lineage_->champion()), Purpose::final);
  what.settings = options_.final;
  what.settings.hidden = std::max(what.settings.hidden, kHiddenOfChampion);
  what.settings.set = options_.set;
  what.solution.name = kChampion;
  what.baselines.emplace();
  for (const std::string& baseline : task_.task.baselines) what.baselines->push_back({baseline, {}});
  if (lineage_->champion_number() > 0) what.baselines->push_back({task_.task.start, {}});
  WHET_TRY(const std::optional<JudgedRecord> judged, judge(std::move(what), patience(false)));
  if (judged) tell(Progress::Kind::judged, judged->evaluation.verdict.sentence, &judged->evaluation);
  return {};
}

// ---- where it stands

bool Run::goal_reached() const {
  return task_.task.goal.metric == "geomean_vs_fastest" && lineage_->standing().geomean >= task_.task.goal.value;
}

double Run::wall_seconds() const { return wall_before_ + setting_.clock() - began_at_; }

Spent Run::spent() const {
  return {.usage = usage_, .steps = static_cast<double>(steps_), .wall_seconds = wall_seconds(), .device_seconds = device_seconds_};
}

Patience Run::patience(bool within_budget) const {
  Patience patience{.stop = setting_.stop};
  if (within_budget) patience.seconds = std::min(patience.seconds, options_.budget.wall_seconds.hard - wall_seconds());
  return patience;
}

void Run::tell(Progress::Kind kind, std::string text, const Evaluation* evaluation, const Json* worker) const {
  if (!setting_.progress) return;
  Progress progress{.kind = kind, .text = std::move(text), .step = steps_, .candidates = lineage_->candidates(), .champion = lineage_->champion_number()};
  const Spent now = spent();
  const Budget& budget = options_.budget;
  progress.seconds_used = now.wall_seconds;
  progress.seconds_left = budget.wall_seconds.hard - now.wall_seconds;
  progress.share_used = std::clamp(std::max({now.wall_seconds / budget.wall_seconds.hard, now.steps / budget.steps.hard,
                                             static_cast<double>(now.usage.tokens) / budget.tokens.hard, now.usage.dollars / budget.dollars.hard,
                                             now.device_seconds / budget.device_seconds.hard}),
                                   0.0, 1.0);
  progress.standing = lineage_->standing();
  progress.evaluation = evaluation;
  progress.worker = worker;
  setting_.progress(progress);
}

OptimizeResult Run::result() const {
  OptimizeResult result;
  result.run_id = setting_.run_id;
  result.ended = ended_;
  result.steps = steps_;
  result.candidates = lineage_->candidates();
  result.champions = lineage_->champion_number();
  result.champion_hash = lineage_->champion();
  result.champion_commit = commit_of_.at(lineage_->champion());
  result.confirmed_by = lineage_->confirmed_by();
  result.champion = files_of_.at(lineage_->champion());
  result.standing = lineage_->standing();
  if (lineage_->baseline()) result.baseline = *lineage_->baseline();
  result.final = lineage_->final();
  result.seconds = wall_seconds();
  return result;
}

}  // namespace whet
