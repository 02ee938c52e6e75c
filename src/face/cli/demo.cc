// SPDX-License-Identifier: Apache-2.0
#include <filesystem>

#include "base/file.h"
#include "base/json_impl.h"
#include "face/cli/command.h"
#include "face/cli/interrupt.h"
#include "face/cli/json_output.h"
#include "face/cli/live.h"
#include "face/cli/outcome.h"
#include "face/cli/result_json.h"
#include "face/cli/run_screen.h"
#include "face/cli/session.h"
#include "search/optimize.h"

namespace whet {
namespace {

namespace fs = std::filesystem;

class Demo : public Command {
 public:
  void declare(Arguments& arguments) override {
    arguments.text(task_name_, "--task TASK", "what to sharpen (default attention-cpu)");
    arguments.number(minutes_, "--minutes N", "how long to search (default 3.5)", 0.2, 1000);
    arguments.text(folder_, "--folder DIR", "where everything goes (default demo)");
    places_.declare_data(arguments);
    places_.declare_worker(arguments);
  }

  Expected<int> run(Context& context, const Arguments&) override {
    WHET_TRY(const OpenedTask task, open_task(task_name_, places_, context));
    WHET_TRY(const WorkerOptions options, places_.worker_options(context));
    WHET_OK(make_room());
    WHET_TRY(const JsonOutput output, JsonOutput::open(folder_ + "/result.json"));
    const std::string ledger = folder_ + "/ledger.db";
    WHET_TRY(const auto opened, open_ledger(ledger));
    Store& store = opened->store;
    const Interrupt interrupt;

    heading(fmt::format("1/4  The task {}", task.folder.task.name));
    print(summary(task.folder.task));

    heading(fmt::format("2/4  Where it stands: {} against the baselines", task.folder.task.start));
    WHET_TRY(const bool judged, judge_start(context, task, options, store, interrupt));
    if (!judged) return interrupted(ledger, false);

    heading(fmt::format("3/4  The search: {} minutes with the tuner", minutes_));
    WHET_TRY(const OptimizeResult result, search(context, task, options, store, interrupt));
    if (!result.final) return interrupted(ledger, true);

    heading("4/4  The champion, in fresh processes on fresh draws");
    print(run_text(result, task.folder.task, setting_of(store), " --ledger " + ledger, context, false));
    WHET_OK(output.write(result_of(result, task.folder.task, ledger, run_folder()).dump(2)));
    print(fmt::format("  all of it as JSON        {}/result.json\n", folder_));
    return exit_code_of(without_baseline(*result.final, task.folder.task.start, task.folder.task.goal));
  }

 private:
  // An earlier demo is kept, out of the way; a folder of somebody else's is not touched.
  Status make_room() const {
    std::error_code error;
    if (fs::exists(folder_, error) && !fs::is_directory(folder_, error)) return bad_input("--folder {}: is not a folder", folder_);
    const bool ours = fs::exists(fs::path(folder_) / "ledger.db", error);
    if (!ours && fs::is_directory(folder_, error) && !fs::is_empty(folder_, error))
      return bad_input("--folder {}: has files in it that no demo wrote; choose another folder", folder_);
    WHET_OK(make_folders(folder_));
    if (!ours) return {};
    int number = 1;
    while (fs::exists(fs::path(folder_) / fmt::format("earlier-{}", number), error)) ++number;
    const fs::path earlier = fs::path(folder_) / fmt::format("earlier-{}", number);
    WHET_OK(make_folders(earlier));
    for (const char* name : {"run", "result.json", "ledger.db-wal", "ledger.db-shm", "ledger.db"}) {
      if (!fs::exists(fs::path(folder_) / name, error)) continue;
      fs::rename(fs::path(folder_) / name, earlier / name, error);
      if (error) return machine_failed("{}/{}: cannot be moved into {}: {}", folder_, name, earlier.string(), error.message());
    }
    return {};
  }

  static void heading(const std::string& text) {
    print((text.starts_with("1/") ? "" : "\n") + text + "\n" + std::string(text.size(), '-') + "\n");
    std::fflush(stdout);  // what comes next takes a while
  }

  static std::string summary(const Task& task) {
    std::string baselines;
    for (const std::string& name : task.baselines) {
      const auto found = task.solutions.find(name);
      const std::string description = found == task.solutions.end() ? "" : found->second.description;
      baselines += fmt::format("  baseline {:<10} {}\n", name, description.substr(0, description.find(". ")));
    }
    return fmt::format("{}: {} workloads, checked, no complaint.\n{}  goal: {} of at least {:g}\n", task.title, task.set("full").size(), baselines, task.goal.metric,
                       task.goal.value);
  }

  // False when it was interrupted.
  static Expected<bool> judge_start(const Context& context, const OpenedTask& task, const WorkerOptions& options, Store& store, const Interrupt& interrupt) {
    Attempt what;
    what.solution = {task.folder.task.start, {}};
    WorkerSeat seat(worker_opener(options));
    Live live(context);
    WHET_TRY(const Attempted attempted, attempt(task.folder, what, seat, store, {.stop = &interrupt.stop()}, [&](const Json& news) { live(news); }));
    live.line().clear();
    if (attempted.cancelled) return false;
    print(show_evaluation(attempted.judged.evaluation, context, false));
    return true;
  }

  Expected<OptimizeResult> search(const Context& context, const OpenedTask& task, const WorkerOptions& options, Store& store, const Interrupt& interrupt) const {
    RunScreen screen(context);
    RunSetting setting = setting_of(store);
    setting.open_worker = worker_opener(options);
    setting.stop = &interrupt.stop();
    setting.progress = [&](const Progress& news) { screen(news); };
    OptimizeOptions search;
    search.budget.wall_seconds = wall_limit(minutes_ * 60);
    return optimize(task.folder.files, search, setting);
  }

  RunSetting setting_of(Store& store) const {
    RunSetting setting;
    setting.run_id = "run";
    setting.folder = run_folder();
    setting.store = &store;
    return setting;
  }
  std::string run_folder() const { return folder_ + "/run"; }

  int interrupted(const std::string& ledger, bool resumable) const {
    complain(fmt::format("interrupted; what was measured is in {}{}", ledger, resumable ? fmt::format(", and 'whet resume {} --ledger {}' goes on", run_folder(), ledger) : ""));
    return kInterrupted;
  }

  std::string task_name_ = "attention-cpu", folder_ = "demo";
  double minutes_ = 3.5;
  Places places_;
};

}  // namespace

const CommandRow kDemo{
    "Sharpen", "demo", "judges, sharpens and proves a real kernel before your eyes, in about five minutes",
    "Takes the shipped attention kernel, judges its start against OpenBLAS and oneDNN, lets the tuner work on it, and judges the champion in fresh processes on\n"
    "fresh draws. Leaves demo/result.json, demo/ledger.db and demo/run (a git repository with a commit a Candidate); an earlier demo is moved to demo/earlier-N.\n\n"
    "Exit codes: 0 the task's goal is met; 1 judged and short of it; 2 bad input; 3 the machine failed; 130 interrupted.\n",
    [] { return std::unique_ptr<Command>(new Demo); }};

}  // namespace whet
