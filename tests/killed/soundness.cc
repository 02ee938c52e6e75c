// SPDX-License-Identifier: Apache-2.0
#include "tests/killed/soundness.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sqlite3.h>

#include <set>
#include <sstream>

#include "base/file.h"
#include "base/hash.h"
#include "ledger/ledger.h"
#include "search/attempt.h"
#include "search/git.h"
#include "search/ledger_store.h"
#include "search/lineage.h"
#include "task/load.h"

namespace whet {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

constexpr const char* kEverything =
    "SELECT e.id, e.run, e.sequence, e.purpose, e.solution_hash, e.request_hash, e.summary, d.evaluation, d.request, "
    "d.families, d.usage, "
    "(SELECT count(*) FROM samples s WHERE s.evaluation = e.number) FROM evaluations e JOIN documents d USING (number)";

Recorded read_all(sqlite3* database) {
  Recorded found;
  sqlite3_stmt* rows = nullptr;
  // A ledger that was being made has no tables yet.
  if (sqlite3_prepare_v2(database, kEverything, -1, &rows, nullptr) != SQLITE_OK) return found;
  while (sqlite3_step(rows) == SQLITE_ROW) {
    std::string all;
    for (int column = 0; column < sqlite3_column_count(rows); ++column) {
      const auto* text = reinterpret_cast<const char*>(sqlite3_column_text(rows, column));
      all += std::string(text ? text : "") + "\n";
    }
    found[all.substr(0, all.find('\n'))] = sha256_hex(all);
  }
  sqlite3_finalize(rows);
  return found;
}

std::string text_of(const Expected<std::string>& said) { return said ? *said : "(failed: " + said.error().what + ")"; }

void expect_clean_repository(const fs::path& repo) {
  const auto checked = Git().run(repo, {"fsck", "--strict", "--no-dangling"});
  EXPECT_EQ(text_of(checked), "");
  for (const auto& entry : fs::recursive_directory_iterator(repo)) {
    const std::string name = entry.path().filename();
    EXPECT_FALSE(name.ends_with(".lock") || name.starts_with("tmp_") || name.starts_with("fast_import_crash"))
        << entry.path() << " is left behind";
  }
}

// The commit of a Candidate: its files are those that were judged, and its trailer names an Evaluation of them.
void expect_commit(const Git& git, const fs::path& repo, const std::string& hash,
                   const std::set<std::string>& evaluations) {
  const std::string ref = "refs/whet/candidates/" + hash;
  const auto files = git.files_of(repo, ref);
  ASSERT_TRUE(files) << files.error().what;
  EXPECT_EQ(text_of(hash_of(*files, "candidate")), hash);
  const std::string trailer =
      text_of(git.run(repo, {"log", "-1", "--format=%(trailers:key=Whet-Evaluation,valueonly)", ref}));
  EXPECT_TRUE(evaluations.contains(trailer.substr(0, trailer.find('\n')))) << hash << ": " << trailer;
}

void expect_right(const JudgedRecord& judged) {
  const Evaluation& evaluation = judged.evaluation;
  EXPECT_TRUE(evaluation.verdict.right()) << name_of(judged.purpose) << " " << evaluation.id << ": "
                                          << name_of(evaluation.verdict.code) << ": " << evaluation.verdict.sentence;
  for (const WorkloadResult& result : evaluation.workloads)
    for (const Trial& trial : result.trials)
      EXPECT_TRUE(trial.verdict.right()) << name_of(judged.purpose) << " " << evaluation.id << ", " << result.workload
                                         << ", " << trial.solution << ": " << name_of(trial.verdict.code) << ": "
                                         << trial.verdict.sentence;
}

}  // namespace

Recorded recorded_in(const fs::path& ledger) {
  if (!fs::exists(ledger)) return {};
  sqlite3* database = nullptr;
  Recorded found;
  if (sqlite3_open_v2(ledger.c_str(), &database, SQLITE_OPEN_READONLY, nullptr) == SQLITE_OK) {
    sqlite3_busy_timeout(database, 5000);
    found = read_all(database);
  }
  sqlite3_close(database);
  return found;
}

Recorded recorded_in_copy(const fs::path& ledger) {
  if (!fs::exists(ledger)) return {};
  auto folder = TemporaryDirectory::make("killed-copy");
  if (!folder) {
    ADD_FAILURE() << folder.error().what;
    return {};
  }
  const fs::path copy = folder->path() / "ledger.db";
  fs::copy_file(ledger, copy);
  const std::string log = ledger.string() + "-wal";  // the index beside it (-shm) is made anew
  if (fs::exists(log)) fs::copy_file(log, copy.string() + "-wal");
  sqlite3* database = nullptr;
  Recorded found;
  EXPECT_EQ(sqlite3_open(copy.c_str(), &database), SQLITE_OK);
  found = read_all(database);
  sqlite3_stmt* check = nullptr;
  EXPECT_EQ(sqlite3_prepare_v2(database, "PRAGMA integrity_check", -1, &check, nullptr), SQLITE_OK);
  EXPECT_EQ(sqlite3_step(check), SQLITE_ROW);
  EXPECT_STREQ(reinterpret_cast<const char*>(sqlite3_column_text(check, 0)), "ok");
  sqlite3_finalize(check);
  sqlite3_close(database);
  return found;
}

void expect_kept(const Recorded& before, const Recorded& after) {
  for (const auto& [id, hash] : before) {
    const auto kept = after.find(id);
    if (kept == after.end()) ADD_FAILURE() << "the Evaluation " << id << " is lost";
    else EXPECT_EQ(kept->second, hash) << "the Evaluation " << id << " has changed";
  }
}

void expect_sound_run(const fs::path& ledger_file, const fs::path& folder) {
  auto ledger = Ledger::open_existing(ledger_file);
  ASSERT_TRUE(ledger) << ledger.error().what;
  const auto complaints = ledger->check();
  ASSERT_TRUE(complaints) << complaints.error().what;
  EXPECT_THAT(*complaints, ::testing::IsEmpty());
  LedgerStore store(*ledger);
  const auto judged = store.judged(folder.filename());
  ASSERT_TRUE(judged) << judged.error().what;
  EXPECT_EQ(recorded_in(ledger_file).size(), judged->size()) << "an Evaluation belongs to no run";

  const auto task_files = read_tree(folder / "task");
  ASSERT_TRUE(task_files) << task_files.error().what;
  const Task task = *load_task(*task_files, "");
  const auto start = hash_of(solution_files(*task_files, task.start), task.start);
  Lineage lineage(*start, static_cast<int>(task.set("full").size()));
  std::set<std::pair<std::string, std::string>> once;
  std::map<std::string, std::set<std::string>> evaluations;  // by Solution
  for (const JudgedRecord& record : *judged) {
    EXPECT_EQ(record.sequence, static_cast<int>(&record - judged->data()));
    EXPECT_TRUE(once.emplace(record.evaluation.solution_hash, record.request_hash).second)
        << record.evaluation.id << " was judged before";
    expect_right(record);
    evaluations[record.evaluation.solution_hash].insert(record.evaluation.id);
    lineage.apply(record);
  }
  ASSERT_TRUE(lineage.final());
  EXPECT_EQ(lineage.final()->scoreboard.workloads_correct, 3);

  const Git git;
  const fs::path repo = folder / "repo";
  expect_clean_repository(repo);
  const auto champion = git.files_of(repo, "refs/heads/champion");
  ASSERT_TRUE(champion) << champion.error().what;
  EXPECT_EQ(text_of(hash_of(*champion, "champion")), lineage.champion());
  const auto tags = git.run(repo, {"for-each-ref", "--format=%(refname:short)", "refs/tags"});
  std::istringstream lines(text_of(tags));
  int tagged = 0;
  for (std::string tag; std::getline(lines, tag);) ++tagged;
  EXPECT_EQ(tagged, lineage.champion_number());
  if (lineage.champion_number() > 0) {
    EXPECT_THAT(text_of(git.run(repo, {"tag", "-n9", "-l", fmt::format("champion-{}", lineage.champion_number())})),
                HasSubstr(lineage.confirmed_by()));
  }
  for (const auto& [hash, ids] : evaluations)
    if (hash != *start) expect_commit(git, repo, hash, ids);
}

}  // namespace whet
