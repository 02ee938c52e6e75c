// SPDX-License-Identifier: Apache-2.0
// whet optimize, whet resume.
#include "search/optimize.h"

#include <filesystem>

#include "base/file.h"
#include "base/json_impl.h"
#include "face/cli/command.h"
#include "face/cli/interrupt.h"
#include "face/cli/json_output.h"
#include "face/cli/judge_options.h"
#include "face/cli/outcome.h"
#include "face/cli/result_json.h"
#include "face/cli/run_folder.h"
#include "face/cli/run_screen.h"
#include "face/cli/session.h"
#include "face/cli/suggest.h"
#include "task/load.h"

namespace whet {
namespace {

// What optimize and resume share: places, the way out.
class Searching : public Command {
 protected:
  void declare_shared(Arguments& arguments) {
    arguments.flag(columns_, "--columns", "show the resident and cold times beside the flushed ones at the end");
    arguments.text(json_, "--json FILE", "the result as JSON, whole or not at all; - is standard output");
    places_.declare_ledger(arguments);
    places_.declare_worker(arguments);
  }

  // A search under Ctrl-C with its screen, and what is printed and written at its end.
  template <class Search>
  Expected<int> drive(Context& context, const RunPlace& place, const Search& search) {
    WHET_TRY(const JsonOutput output, JsonOutput::open(json_));
    WHET_TRY(const WorkerOptions options, places_.worker_options(context));
    WHET_TRY(const std::string ledger, places_.ledger_file(context));
    WHET_TRY(const auto opened, open_ledger(ledger));
    Store& store = opened->store;
    const Interrupt interrupt;
    RunScreen screen(context);
    RunSetting setting;
    setting.run_id = place.id;
    setting.folder = place.folder;
    setting.store = &store;
    setting.open_worker = worker_opener(options);
    setting.stop = &interrupt.stop();
    setting.progress = [&](const Progress& news) { screen(news); };
    const Expected<OptimizeResult> result = search(setting);
    screen.line().clear();
    if (!result) return std::unexpected(with_remedy(result.error(), place));
    WHET_TRY(const Task task, load_task_of_run(place));
    if (!output.to_stdout())
      print(run_text(*result, task, setting, places_.ledger.empty() ? "" : " --ledger " + ledger, context, columns_));
    WHET_OK(output.write(result_of(*result, task, ledger, place.folder).dump(2)));
    if (!result->final) return kInterrupted;
    return exit_code_of(without_baseline(*result->final, task.start, task.goal));
  }

  // What a machine's failure left behind is a run that can go on.
  static Error with_remedy(Error error, const RunPlace& place) {
    std::error_code ignored;
    if (error.blame == Blame::machine && std::filesystem::is_directory(place.folder + "/repo", ignored))
      error.what += fmt::format("\n      nothing that was judged is lost; 'whet resume {}' goes on", place.folder);
    return error;
  }

  // The task as it was when the run began.
  static Expected<Task> load_task_of_run(const RunPlace& place) {
    WHET_TRY(const TaskFiles files, read_tree(place.folder + "/task"));
    return load_task(files, place.folder + "/task");
  }

  std::string json_;
  bool columns_ = false;
  Places places_;
};

class Optimize : public Searching {
 public:
  void declare(Arguments& arguments) override {
    arguments.position(task_, "TASK", "a task's folder, or the name of a shipped task");
    arguments.text(options_.agent, "--agent NAME", "who makes the Candidates: tuner (the only one yet; it needs no model)");
    arguments.number(minutes_, "--minutes N", "wall time of the search (default 5, unless --steps is given); the last confirmation and the final judgement come on top", 0.05, 10000);
    arguments.integer(steps_, "--steps N", "stop after this many steps", 1);
    arguments.number(tokens_, "--tokens N", "stop after this many tokens (the tuner uses none)", 0, 1e15);
    arguments.number(dollars_, "--dollars N", "stop after this much money (the tuner costs none)", 0, 1e9);
    arguments.number(device_seconds_, "--device-seconds N", "stop after this much time of the worker", 1, 1e9);
    arguments.flag(options_.stop_at_goal, "--until-goal", "stop as soon as the goal seems to be met");
    judge_.declare_set(arguments);
    arguments.integer(seed_, "--seed N", "of whatever is drawn in the search (default 1)", 0);
    arguments.text(run_, "--run NAME", "the run's name, or a folder when there is a / in it (default the task and the time)");
    declare_shared(arguments);
  }

  Expected<int> run(Context& context, const Arguments& arguments) override {
    WHET_TRY(const OpenedTask task, open_task(task_, places_, context));
    const Task& checked = task.folder.task;
    WHET_OK(check_set(checked, judge_.set));
    WHET_TRY(const auto agent, make_agent(options_.agent, AgentSetup{.task = &checked, .set = judge_.set, .start = solution_files(task.folder.files, checked.start)}));
    WHET_TRY(const std::string data, places_.data_folder(context));
    WHET_TRY(const RunPlace place, run_place(run_.empty() ? new_run_name(checked.name) : run_, data));
    options_.set = judge_.set;
    options_.seed = static_cast<uint64_t>(seed_);
    set_budget(arguments);
    return drive(context, place, [&](const RunSetting& setting) { return optimize(task.folder.files, options_, setting); });
  }

 private:
  void set_budget(const Arguments& arguments) {
    Budget& budget = options_.budget;
    if (arguments.given("--minutes") || !arguments.given("--steps")) budget.wall_seconds = wall_limit(minutes_ * 60);
    // The step before the last is told that it is.
    if (arguments.given("--steps")) budget.steps = {std::max(1.0, steps_ - 1.0), static_cast<double>(steps_)};
    if (arguments.given("--tokens")) budget.tokens = {tokens_ * 0.9, tokens_};
    if (arguments.given("--dollars")) budget.dollars = {dollars_ * 0.9, dollars_};
    if (arguments.given("--device-seconds")) budget.device_seconds = {device_seconds_ * 0.75, device_seconds_};
  }

  std::string task_, run_;
  OptimizeOptions options_;
  JudgeOptions judge_;
  double minutes_ = 5, tokens_ = 0, dollars_ = 0, device_seconds_ = 0;
  int steps_ = 0, seed_ = 1;
};

class Resume : public Searching {
 public:
  void declare(Arguments& arguments) override {
    arguments.position(run_, "RUN", "the run's name, or its folder");
    arguments.number(minutes_, "--minutes N", "add this much wall time to the run's own", 0, 10000);
    declare_shared(arguments);
  }

  Expected<int> run(Context& context, const Arguments&) override {
    WHET_TRY(const std::string data, places_.data_folder(context));
    WHET_TRY(RunPlace place, run_place(run_, data));
    std::error_code error;
    if (!std::filesystem::exists(place.folder, error)) WHET_OK(look_into_ledger(context, place));
    if (std::filesystem::is_directory(place.folder, error) && !std::filesystem::exists(place.folder + "/repo", error))
      return bad_input("{}: no run has begun there (or it was killed before it had); 'whet optimize' begins it", place.folder);
    if (!std::filesystem::is_directory(place.folder + "/repo", error))
      return bad_input("there is no run '{}': no folder {}{}", run_, place.folder, did_you_mean(run_, run_names(data)));
    return drive(context, place, [&](const RunSetting& setting) { return resume(setting, minutes_ * 60); });
  }

 private:
  // A run that was begun in a folder of its own can be named all the same.
  Status look_into_ledger(const Context& context, RunPlace& place) const {
    WHET_TRY(const std::string ledger, places_.ledger_file(context));
    auto opened = Ledger::open_existing(ledger);
    if (!opened) return {};
    if (const auto row = opened->run(run_); row && !row->folder.empty()) place = {row->id, row->folder};
    return {};
  }
  static std::vector<std::string> run_names(const std::string& data) {
    std::vector<std::string> names;
    std::error_code error;
    for (std::filesystem::directory_iterator it(data + "/runs", error), end; !error && it != end; it.increment(error))
      names.push_back(it->path().filename().string());
    return names;
  }

  std::string run_;
  double minutes_ = 0;
};

}  // namespace

const CommandRow kOptimize{
    "Sharpen", "optimize", "makes a task's start Solution faster, step by step, and judges the champion",
    "An agent makes Candidates of the start Solution; each is judged like any Solution. A Candidate becomes champion only when it beats the champion twice: the\n"
    "second time in fresh processes on fresh draws. At the end the champion is judged in full against the task's baselines and the start.\n"
    "The run is a git repository with a commit a Candidate. Ctrl-C ends it cleanly (a second one at once); killed at any moment it goes on with 'whet resume'.\n\n"
    "Examples:\n"
    "  whet optimize attention-cpu --agent tuner --minutes 2\n"
    "  whet optimize ./my-task --minutes 30 --run my-first --json result.json\n"
    "  whet optimize rmsnorm-cpu --steps 5 --run ./runs/quick\n\n"
    "Exit codes: 0 the goal is met; 1 judged and short of it; 2 bad input; 3 the machine failed; 130 interrupted (whet resume goes on).\n",
    [] { return std::unique_ptr<Command>(new Optimize); }};

const CommandRow kResume{
    "Sharpen", "resume", "goes on with a run that was stopped or killed",
    "Nothing that is in the ledger is judged again. A run that has ended shows its result, or goes on when --minutes adds time.\n\n"
    "Examples:\n"
    "  whet resume my-first\n"
    "  whet resume ./runs/quick --minutes 5\n\n"
    "Exit codes: as for optimize.\n",
    [] { return std::unique_ptr<Command>(new Resume); }};

}  // namespace whet
