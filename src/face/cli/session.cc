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
  arguments.text(worker, "--worker WHERE",
                 "who judges: local: (this machine), local:/path/to/whet-worker, or ssh://[user@]host[:port][/folder], where the worker is copied into that "
                 "folder on first use (default $WHET_WORKER, else local:). $WHET_SSH names another ssh with arguments");
  arguments.text(cache, "--cache DIR", "the worker's objects, artifacts and admissions (default ~/.cache/whet); with ssh:// an absolute folder over there");
}

Expected<std::string> Places::ledger_file(const Context& context) const {
  if (!ledger.empty()) return ledger;
  WHET_TRY(const std::string folder, data_folder(context));
  return folder + "/ledger.db";
}

Expected<WorkerOptions> Places::worker_options(const Context& context) const {
  const std::string named = worker.empty() ? context.variable("WHET_WORKER") : worker;
  WorkerOptions options{.program_folder = context.program_folder, .cache_folder = {}, .environment = context.worker_environment()};
  if (!named.empty()) {
    WHET_TRY(options.where, parse_worker_address(named, worker.empty() ? "WHET_WORKER" : "--worker"));
  }
  if (options.where.remote()) {
    // Our cache is not its cache: without the option it has the default of its own home.
    if (!cache.empty() && !cache.starts_with("/")) return bad_input("--cache: with a worker at {} expected an absolute folder over there, found '{}'", named, cache);
    options.cache_folder = cache;
    if (const std::string ssh = context.variable("WHET_SSH"); !ssh.empty()) {
      WHET_TRY(options.ssh, parse_ssh_program(ssh, "WHET_SSH"));
    }
    options.ssh_environment = context.environment;
    options.notice = complain;
    return options;
  }
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
