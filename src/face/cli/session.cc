// SPDX-License-Identifier: Apache-2.0
#include "face/cli/session.h"

#include <filesystem>

#include "base/file.h"
#include "task/load.h"

namespace whet {

void Places::declare_data(Arguments& arguments) {
  arguments.text(data, "--data DIR", "where tasks, runs and the ledger are kept (default ~/.local/share/whet)");
}

void Places::declare_ledger(Arguments& arguments) {
  arguments.text(ledger, "--ledger FILE", "the ledger (default ledger.db in the data folder)");
  declare_data(arguments);
}

void Places::declare_worker(Arguments& arguments) {
  arguments.text(worker, "--worker WHERE", "who judges: local: (default) or local:/path/to/whet-worker");
  arguments.text(cache, "--cache DIR", "the worker's objects, artifacts and admissions (default ~/.cache/whet)");
}

Expected<std::string> Places::ledger_file(const Context& context) const {
  if (!ledger.empty()) return ledger;
  WHET_TRY(const std::string folder, data_folder(context));
  return folder + "/ledger.db";
}

Expected<WorkerOptions> Places::worker_options(const Context& context) const {
  if (!worker.starts_with("local:"))
    return bad_input("--worker: expected local: or local:/path/to/whet-worker, found '{}' (workers on other machines are not there yet)", worker);
  WorkerOptions options{.where = worker, .program_folder = context.program_folder, .cache_folder = {}, .environment = context.worker_environment()};
  WHET_TRY(const std::string folder, context.cache_folder(cache));
  std::error_code error;
  options.cache_folder = std::filesystem::absolute(folder, error).lexically_normal().string();  // jails have no working folder of ours
  return options;
}

Expected<OpenedTask> open_task(const std::string& argument, const Places& places, const Context& context) {
  WHET_TRY(const std::string data, places.data_folder(context));
  WHET_TRY(TaskSource source, find_task(argument, data, context));
  WHET_TRY(Task task, load_task(source.files, source.folder));
  TaskFolder folder{std::move(task), source.files};
  return OpenedTask{std::move(source), std::move(folder)};
}

Expected<std::unique_ptr<OpenedLedger>> open_ledger(const std::string& file) {
  if (const auto folder = std::filesystem::path(file).parent_path(); !folder.empty()) WHET_OK(make_folders(folder));
  WHET_TRY(Ledger ledger, Ledger::open(file));
  return std::make_unique<OpenedLedger>(std::move(ledger));
}

OpenWorker worker_opener(const WorkerOptions& options) {
  return [options] { return open_worker(options); };
}

}  // namespace whet
