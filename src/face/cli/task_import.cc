// SPDX-License-Identifier: Apache-2.0
#include <filesystem>

#include "base/file.h"
#include "face/cli/command.h"
#include "face/cli/session.h"
#include "task/import_flashinfer.h"

namespace whet {
namespace {

namespace fs = std::filesystem;

class TaskImport : public Command {
 public:
  void declare(Arguments& arguments) override {
    arguments.position(folder_, "DIR", "a FlashInfer Trace data set: definitions/, workloads/, solutions/, blobs");
    arguments.text(parent_, "--into DIR", "where to make the tasks' folders (default here)");
  }

  Expected<int> run(Context&, const Arguments&) override {
    std::error_code error;
    if (!fs::is_directory(folder_, error)) return bad_input("{}: there is no such folder", folder_);
    WHET_TRY(const Imported imported, import_flashinfer(folder_));
    for (const ImportedTask& task : imported.tasks)
      if (fs::exists(fs::path(parent_) / task.name, error)) return bad_input("{}/{}: is there already; nothing was written", parent_, task.name);
    for (const ImportedTask& task : imported.tasks) WHET_OK(write_task(task));
    list("Solutions that cannot be judged here", imported.not_runnable);
    list("payloads that are missing (a Git LFS pointer needs 'git lfs pull' in the data set)", imported.payloads_missing);
    list("left out", imported.complaints);
    print(fmt::format("{} task(s) written\n", imported.tasks.size()));
    return imported.tasks.empty() ? kBadInput : kGoalMet;
  }

 private:
  Status write_task(const ImportedTask& task) const {
    const fs::path folder = fs::path(parent_) / task.name;
    WHET_OK(make_folders(parent_));
    WHET_OK(write_tree(folder, task.files));
    for (const auto& [path, source] : task.payloads) {
      WHET_OK(make_folders((folder / path).parent_path()));
      std::error_code error;
      fs::copy_file(source, folder / path, error);
      if (error) return machine_failed("{}: cannot be copied to {}: {}", source.string(), (folder / path).string(), error.message());
    }
    print(fmt::format("{}\n", folder.string()));
    for (const std::string& needed : task.still_needed) print("  still needed: " + needed + "\n");
    return {};
  }
  static void list(const std::string& title, const std::vector<std::string>& lines) {
    if (lines.empty()) return;
    print(title + "\n");
    for (const std::string& line : lines) print("  " + line + "\n");
  }

  std::string folder_, parent_ = ".";
};

}  // namespace

const CommandRow kTaskImport{"Tasks", "task import", "makes tasks of a FlashInfer Trace data set",
                             "One folder a Definition, with its workloads, the safetensors that they name, and the Solutions that can be judged here. Says what is missing or\n"
                             "was left out, and why. A Python reference is kept as the specification; what runs is a reference Solution, which a person has to add.\n\n"
                             "Example:\n"
                             "  whet task import ./flashinfer-trace --into ./tasks\n",
                             [] { return std::unique_ptr<Command>(new TaskImport); }};

}  // namespace whet
