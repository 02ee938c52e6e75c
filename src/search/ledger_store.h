// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "ledger/ledger.h"
#include "search/store.h"

namespace whet {

// The ledger as the search sees it. With attempt.cc, the only place that adds to the ledger.
class LedgerStore final : public Store {
 public:
  explicit LedgerStore(Ledger& ledger) : ledger_(ledger) {}  // which outlives it

  Expected<std::optional<Evaluation>> find(const std::string& run, const std::string& solution_hash, const std::string& request_hash) override;
  Status record(const JudgedRecord& judged, const std::map<std::string, std::string>& blobs) override;
  Expected<std::string> blob(const std::string& sha256) override;
  Status begin_run(const RunRecord& run) override;
  Status end_run(const std::string& id, const std::string& status) override;
  Expected<RunRecord> run(const std::string& id) override;
  Expected<std::vector<JudgedRecord>> judged(const std::string& run) override;

 private:
  Ledger& ledger_;
};

// An entry of the ledger as the search knows it; for measure_again().
Expected<JudgedRecord> judged_from(const Judgement& judgement);

}  // namespace whet
