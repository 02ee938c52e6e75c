// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>

#include "face/cli/arguments.h"
#include "face/cli/context.h"
#include "face/cli/task_source.h"
#include "ledger/ledger.h"
#include "search/attempt.h"
#include "search/ledger_store.h"
#include "wire/client.h"

namespace whet {

// Where things lie: the options that the judging commands share.
struct Places {
  std::string data, cache, ledger, worker;

  void declare_data(Arguments& arguments);
  void declare_ledger(Arguments& arguments);
  void declare_worker(Arguments& arguments);  // and the cache

  Expected<std::string> data_folder(const Context& context) const { return context.data_folder(data); }
  // --ledger FILE, else ledger.db in the data folder.
  Expected<std::string> ledger_file(const Context& context) const;
  // --worker WHERE, else $WHET_WORKER, else local:.
  Expected<WorkerOptions> worker_options(const Context& context) const;
};

// A checked task; a task with complaints is an error that lists them all.
struct OpenedTask {
  TaskSource source;
  TaskFolder folder;
};
Expected<OpenedTask> open_task(const std::string& argument, const Places& places, const Context& context);

// A ledger and the search's view of it.
struct OpenedLedger {
  explicit OpenedLedger(Ledger opened) : ledger(std::move(opened)), store(ledger) {}
  OpenedLedger(const OpenedLedger&) = delete;
  OpenedLedger& operator=(const OpenedLedger&) = delete;

  Ledger ledger;
  LedgerStore store;
};
// Makes the file, and its folder, when there is none.
Expected<std::unique_ptr<OpenedLedger>> open_ledger(const std::string& file);

OpenWorker worker_opener(const WorkerOptions& options);

}  // namespace whet
