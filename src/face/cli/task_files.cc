// SPDX-License-Identifier: Apache-2.0
// The commands that write a task's files: whet task new, whet header.
#include <filesystem>

#include "base/file.h"
#include "face/cli/command.h"
#include "face/cli/session.h"
#include "face/cli/suggest.h"
#include "task/new_task.h"
#include "task/typed_header.h"

namespace whet {
namespace {

namespace fs = std::filesystem;

class TaskNew : public Command {
 public:
  void declare(Arguments& arguments) override {
    arguments.position(name_, "NAME", "the new task's name, which is also its folder's");
    arguments.text(parent_, "--in DIR", "where to make the folder (default here)");
  }
  Expected<int> run(Context&, const Arguments&) override {
    WHET_TRY(const TaskFiles files, new_task(name_));
    const fs::path folder = fs::path(parent_) / name_;
    std::error_code error;
    if (fs::exists(folder, error)) return bad_input("{}: is there already; choose another name, or remove it first", shown(folder));
    if (!fs::is_directory(parent_, error)) return bad_input("--in {}: there is no such folder", parent_);
    WHET_OK(write_tree(folder, files));
    for (const auto& [path, contents] : files) print(fmt::format("  {}/{}\n", shown(folder), path));
    print(fmt::format("\nIt works as it is, and every file explains itself. Next:\n  whet task check ./{0}\n  whet evaluate ./{0} start\n", shown(folder)));
    return kGoalMet;
  }

 private:
  std::string shown(const fs::path& folder) const { return folder.lexically_normal().string(); }
  std::string name_, parent_ = ".";
};

class Header : public Command {
 public:
  void declare(Arguments& arguments) override {
    arguments.position(task_, "TASK", "a task's folder, or the name of a shipped task");
    arguments.optional_position(definition_, "DEFINITION", "one of the task's Definitions (default all)");
    arguments.text(folder_, "--into DIR", "write DIR/DEFINITION.h for each, instead of printing");
    places_.declare_data(arguments);
  }
  Expected<int> run(Context& context, const Arguments&) override {
    WHET_TRY(const OpenedTask opened, open_task(task_, places_, context));
    const Task& task = opened.folder.task;
    std::vector<std::string> names;
    for (const Definition& definition : task.definitions) names.push_back(definition.name);
    if (!definition_.empty() && !task.definition(definition_))
      return bad_input("task {} has no Definition '{}'{}; it has {}", task.name, definition_, did_you_mean(definition_, names), listed(names));
    if (!folder_.empty()) WHET_OK(make_folders(folder_));
    for (const Definition& definition : task.definitions) {
      if (!definition_.empty() && definition.name != definition_) continue;
      const std::string text = typed_header(definition);
      if (folder_.empty()) {
        print(text);
        continue;
      }
      const std::string path = (fs::path(folder_) / (definition.name + ".h")).string();
      WHET_OK(write_file_atomically(path, text));
      print(path + "\n");
    }
    return kGoalMet;
  }

 private:
  std::string task_, definition_, folder_;
  Places places_;
};

}  // namespace

const CommandRow kTaskNew{"Tasks", "task new", "makes a small task that works, to be changed into yours",
                          "The new folder holds a Definition, workloads in two families, a reference, a baseline and a start; every file explains itself.\n\n"
                          "Examples:\n"
                          "  whet task new my-task\n"
                          "  whet task new my-task --in ~/tasks\n",
                          [] { return std::unique_ptr<Command>(new TaskNew); }};

const CommandRow kHeader{"Tasks", "header", "the typed C header of a Definition, for authors of a Solution",
                         "Named fields for every tensor (its shape in a comment), axis and scalar, and a function that fills them from a WhetCall. A Solution may as well\n"
                         "use whet/candidate.h alone.\n\n"
                         "Examples:\n"
                         "  whet header attention-cpu attention_f32 > attention_f32.h\n"
                         "  whet header attention-cpu --into ./mine\n",
                         [] { return std::unique_ptr<Command>(new Header); }};

}  // namespace whet
