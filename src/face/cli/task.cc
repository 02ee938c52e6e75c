// SPDX-License-Identifier: Apache-2.0
// whet task list, show, check.
#include <fmt/ranges.h>

#include <filesystem>

#include "face/cli/command.h"
#include "face/cli/session.h"
#include "face/cli/suggest.h"
#include "task/describe.h"
#include "task/load.h"

namespace whet {
namespace {

class TaskList : public Command {
 public:
  void declare(Arguments& arguments) override { places_.declare_data(arguments); }
  Expected<int> run(Context& context, const Arguments&) override {
    WHET_TRY(const std::string data, places_.data_folder(context));
    for (const TaskName& task : task_names(data, context)) {
      WHET_TRY(const TaskSource source, find_task(task.name, data, context));
      const TaskReport report = read_task(source.files, source.folder);
      const std::string title = report.task ? report.task->title : fmt::format("{} complaint(s); 'whet task check {}'", report.complaints.size(), task.name);
      print(fmt::format("{:<18}{:>4} workloads  {}  ({})\n", task.name, report.task ? report.task->workloads.size() : 0, title, task.origin));
    }
    return kGoalMet;
  }

 private:
  Places places_;
};

class TaskShow : public Command {
 public:
  void declare(Arguments& arguments) override {
    arguments.position(task_, "TASK", "a task's folder, or the name of a shipped task");
    places_.declare_data(arguments);
  }
  Expected<int> run(Context& context, const Arguments&) override {
    WHET_TRY(const OpenedTask opened, open_task(task_, places_, context));
    print(fmt::format("from {}, hash {}\n", opened.source.origin, task_hash(opened.folder.files).substr(0, 16)));
    print(describe_task(opened.folder.task));
    return kGoalMet;
  }

 private:
  std::string task_;
  Places places_;
};

class TaskCheck : public Command {
 public:
  void declare(Arguments& arguments) override {
    arguments.position(task_, "TASK", "a task's folder, or the name of a shipped task");
    places_.declare_data(arguments);
  }
  Expected<int> run(Context& context, const Arguments&) override {
    WHET_TRY(const std::string data, places_.data_folder(context));
    WHET_TRY(const TaskSource source, find_task(task_, data, context));
    const TaskReport report = read_task(source.files, source.folder);
    for (const std::string& warning : report.warnings) print("warning: " + warning + "\n");
    if (!report.task) {
      for (const std::string& complaint : report.complaints) print(complaint + "\n");
      complain(fmt::format("{}: {} complaint(s)", source.origin, report.complaints.size()));
      return kBadInput;
    }
    const Task& task = *report.task;
    print(fmt::format("{}: {} Definitions, {} workloads, {} Solutions: no complaint\n", task.name, task.definitions.size(), task.workloads.size(),
                      task.solutions.size()));
    return kGoalMet;
  }

 private:
  std::string task_;
  Places places_;
};

}  // namespace

const CommandRow kTaskList{"Tasks", "task list", "the tasks that are known by name",
                           "Shipped tasks are inside the program; a folder DATA/tasks/NAME takes the place of the shipped one of that name.\n",
                           [] { return std::unique_ptr<Command>(new TaskList); }};

const CommandRow kTaskShow{"Tasks", "task show", "what a task asks for: goal, rules, Definitions, workloads with their floors",
                           "Example:\n"
                           "  whet task show attention-cpu\n",
                           [] { return std::unique_ptr<Command>(new TaskShow); }};

const CommandRow kTaskCheck{"Tasks", "task check", "reads all of a task and reports every complaint at once",
                            "Checks task.toml, definitions, workloads, the Solutions and the files that they name: each complaint with file, line or key,\n"
                            "what was expected and what was found. Nothing is built or run.\n\n"
                            "Example:\n"
                            "  whet task check my-task\n\n"
                            "Exit codes: 0 no complaint; 2 at least one.\n",
                            [] { return std::unique_ptr<Command>(new TaskCheck); }};

}  // namespace whet
