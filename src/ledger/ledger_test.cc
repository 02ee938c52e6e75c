// SPDX-License-Identifier: Apache-2.0
#include "ledger/ledger.h"

#include <gmock/gmock.h>
#include <signal.h>
#include <sqlite3.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <fstream>
#include <functional>
#include <sstream>

#include "base/file.h"
#include "base/hash.h"
#include "base/json_impl.h"
#include "ledger/database.h"
#include "ledger/export.h"
#include "ledger/schema.h"

namespace whet {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

double milliseconds_of(const std::function<void()>& work) {
  auto begin = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin).count();
}

const std::map<std::string, std::string> kBlobs = {{sha256_hex("name = 1"), "name = 1"}, {sha256_hex("int x;"), "int x;"}, {sha256_hex(""), ""}};

Evaluation evaluation(int seed, int workloads = 2, int samples = 3) {
  Evaluation evaluation;
  evaluation.task = "rmsnorm-cpu";
  evaluation.task_hash = std::string(64, 't');
  evaluation.solution = seed % 2 ? "mine" : "start";
  evaluation.solution_hash = sha256_hex(std::to_string(seed));
  evaluation.set = "full";
  evaluation.started_at = fmt::format("2025-01-01T00:{:02}:{:02}Z", seed / 60 % 60, seed % 60);
  evaluation.worker = "0.1";
  evaluation.verdict = {seed % 3 ? Code::correct : Code::wrong, "", ""};
  evaluation.solutions = {{evaluation.solution, "candidate", evaluation.solution_hash, "artifact", "", {"g++"}, 1}, {"onednn", "baseline", "h", "a", "", {}, 1}};
  for (int w = 0; w < workloads; ++w) {
    WorkloadResult result{"w" + std::to_string(w), "rmsnorm", "wide", 10, {}};
    for (const auto& [name, role] : {std::pair{evaluation.solution, "candidate"}, std::pair{std::string("onednn"), "baseline"}}) {
      Trial trial{name, role, {Code::correct, "", ""}, {0.1, 1e-6, 1e-3, 1e-4, samples}, {}};
      for (int i = 0; i < samples; ++i) trial.samples[Column::flushed].push_back({i, i % 2, 100.5 + i + seed, i == 1 ? "preempted, twice" : ""});
      result.trials.push_back(trial);
    }
    evaluation.workloads.push_back(result);
  }
  evaluation.scoreboard.workloads_total = workloads;
  if (seed % 3) evaluation.scoreboard.geomean_vs_fastest = Ratio{1.5, 1.4, 1.6};
  evaluation.environment = R"({"cpu":{"model":"A CPU"},"libraries":{"onednn":"2.6"}})";
  evaluation.id = evaluation_id(evaluation);
  return evaluation;
}

Judgement judgement(int seed, const std::string& run = "", int sequence = 0) {
  Judgement judgement;
  judgement.run = run;
  judgement.sequence = sequence;
  judgement.purpose = "trial";
  judgement.request.task = {{"task.toml", sha256_hex("name = 1")}};
  judgement.request.solution = {"mine", {{"a.cc", sha256_hex("int x;")}, {"empty", sha256_hex("")}}};
  judgement.request_hash = "r" + std::to_string(seed);
  judgement.evaluation = evaluation(seed);
  judgement.summary = "tile 8";
  judgement.families = {"wide", "tall"};
  judgement.usage = R"({"tokens":3})";
  judgement.wall_seconds = 1.25 * seed;
  return judgement;
}

class LedgerTest : public ::testing::Test {
 protected:
  LedgerTest() : folder_(TemporaryDirectory::make("whet-ledger").value()), path_(folder_.path() / "ledger.db") {}
  Ledger open() {
    auto ledger = Ledger::open(path_);
    EXPECT_TRUE(ledger) << ledger.error().what;
    return std::move(*ledger);
  }
  std::string open_error() {
    auto ledger = Ledger::open(path_);
    return ledger ? "opened" : ledger.error().what;
  }
  void write(std::string_view bytes) { std::ofstream(path_, std::ios::binary) << bytes; }
  void sql(const char* text) {
    auto database = Database::open(path_, true);
    ASSERT_TRUE(database);
    auto status = (*database)->execute(text);
    ASSERT_TRUE(status) << status.error().what;
  }

  TemporaryDirectory folder_;
  std::string path_;
};

TEST_F(LedgerTest, WhatIsWrittenIsReadBackEqualAlsoAfterReopening) {
  {
    Ledger ledger = open();
    ASSERT_TRUE(ledger.begin_run({.id = "run-1", .task = "rmsnorm-cpu"}));
    EXPECT_TRUE(ledger.add(judgement(1), kBlobs).value());
    EXPECT_TRUE(ledger.add(judgement(2, "run-1", 0), kBlobs).value());
    EXPECT_TRUE(ledger.add(judgement(3, "run-1", 1), {}).value());
  }
  Ledger ledger = open();
  EXPECT_EQ(ledger.judgement(judgement(1).evaluation.id).value(), judgement(1));
  EXPECT_THAT(ledger.judgements_of("run-1").value(), ElementsAre(judgement(2, "run-1", 0), judgement(3, "run-1", 1)));
  EXPECT_EQ(ledger.evaluation(judgement(3).evaluation.id).value(), judgement(3).evaluation);
  EXPECT_EQ(ledger.blob(sha256_hex("int x;")).value(), "int x;");
  EXPECT_EQ(ledger.blob(sha256_hex("")).value(), "");
  EXPECT_EQ(ledger.files(judgement(1).request.solution.manifest).value(), (std::map<std::string, std::string>{{"a.cc", "int x;"}, {"empty", ""}}));
  EXPECT_THAT(ledger.check().value(), IsEmpty());
}

TEST_F(LedgerTest, NothingIsWrittenTwice) {
  Ledger ledger = open();
  EXPECT_TRUE(ledger.add(judgement(1), kBlobs).value());
  EXPECT_FALSE(ledger.add(judgement(1), kBlobs).value());
  EXPECT_EQ(ledger.list({}).value().size(), 1u);
  ASSERT_TRUE(ledger.begin_run({.id = "run-1"}));
  EXPECT_TRUE(ledger.add(judgement(2, "run-1", 0), {}).value());
  EXPECT_FALSE(ledger.add(judgement(3, "run-1", 0), {})) << "a sequence number twice";
  Judgement again = judgement(2, "run-1", 1);
  again.evaluation.started_at = "later";
  again.evaluation.id = evaluation_id(again.evaluation);
  EXPECT_FALSE(ledger.add(again, {})) << "the same request for the same Solution twice in a run";
  again.run.clear();
  again.sequence = 0;
  EXPECT_TRUE(ledger.add(again, {}).value()) << "outside a run it may be measured again";
  EXPECT_EQ(ledger.find("run-1", again.evaluation.solution_hash, "r2").value()->id, judgement(2).evaluation.id);
  EXPECT_EQ(ledger.find("", again.evaluation.solution_hash, "r2").value()->id, again.evaluation.id) << "the newest";
  EXPECT_FALSE(ledger.find("run-2", again.evaluation.solution_hash, "r2").value());
  EXPECT_FALSE(ledger.find("", again.evaluation.solution_hash, "r3").value());
}

TEST_F(LedgerTest, AnEvaluationWithoutItsFilesIsNotWritten) {
  Ledger ledger = open();
  EXPECT_THAT(ledger.add(judgement(1), {}).error().what, HasSubstr("the contents of task.toml"));
  EXPECT_THAT(ledger.add(judgement(1), {{sha256_hex("a"), "b"}}).error().what, HasSubstr("are not those"));
  EXPECT_TRUE(ledger.list({}).value().empty());
  EXPECT_THAT(ledger.blob("abc").error().what, HasSubstr("no contents with the hash abc"));
}

TEST_F(LedgerTest, ListsByFilterNewestFirst) {
  Ledger ledger = open();
  for (int seed = 0; seed < 10; ++seed) ASSERT_TRUE(ledger.add(judgement(seed), kBlobs));
  auto rows = ledger.list({}).value();
  ASSERT_EQ(rows.size(), 10u);
  EXPECT_EQ(rows[0].id, judgement(9).evaluation.id);
  EXPECT_EQ(rows[0].code, Code::wrong);
  EXPECT_FALSE(rows[0].geomean);
  EXPECT_EQ(rows[1].geomean, (Ratio{1.5, 1.4, 1.6}));
  EXPECT_EQ(rows[1].total, 2);
  EXPECT_EQ(ledger.list({.limit = 3}).value().size(), 3u);
  EXPECT_EQ(ledger.list({.solution = "mine"}).value().size(), 5u);
  EXPECT_EQ(ledger.list({.solution = judgement(4).evaluation.solution_hash.substr(0, 12)}).value().size(), 1u);
  EXPECT_EQ(ledger.list({.task = "other"}).value().size(), 0u);
  EXPECT_EQ(ledger.list({.task = "rmsnorm-cpu", .purpose = "trial", .code = Code::wrong, .limit = 0}).value().size(), 4u);
}

TEST_F(LedgerTest, BeginningsOfIdsWillDo) {
  Ledger ledger = open();
  for (int seed = 0; seed < 40; ++seed) ASSERT_TRUE(ledger.add(judgement(seed), kBlobs));
  std::string id = judgement(7).evaluation.id;
  EXPECT_EQ(ledger.evaluation(id.substr(0, 8)).value().id, id);
  EXPECT_THAT(ledger.evaluation("e").error().what, HasSubstr("several Evaluations begin with \"e\""));
  EXPECT_THAT(ledger.evaluation("").error().what, HasSubstr("no Evaluation \"\""));
  EXPECT_THAT(ledger.evaluation("e%").error().what, HasSubstr("no Evaluation \"e%\"; `whet ledger` lists them"));
}

TEST_F(LedgerTest, Runs) {
  Ledger ledger = open();
  RunRow row{"r1", "t", "h", "bare", "tuner", R"({"a":1})", "/runs/r1", "running", "2025", "", 0};
  ASSERT_TRUE(ledger.begin_run(row));
  EXPECT_THAT(ledger.begin_run(row).error().what, HasSubstr("there is a run \"r1\" already"));
  EXPECT_EQ(ledger.run("r1").value(), row);
  ASSERT_TRUE(ledger.end_run("r1", "goal met", "2026"));
  ASSERT_TRUE(ledger.add(judgement(1, "r1", 0), kBlobs));
  row.state = "goal met";
  row.ended_at = "2026";
  row.evaluations = 1;
  EXPECT_THAT(ledger.runs().value(), ElementsAre(row));
  EXPECT_THAT(ledger.run("x").error().what, HasSubstr("no run \"x\""));
  EXPECT_FALSE(ledger.end_run("x", "", ""));
  EXPECT_FALSE(ledger.add(judgement(2, "unknown", 0), {})) << "a run that never began";
}

TEST_F(LedgerTest, FilesThatAreNoLedgerAreRefused) {
  write("I am a letter, and a long one at that. " + std::string(2000, '.'));
  EXPECT_EQ(open_error(), path_ + ": is not a ledger (no SQLite file); name another with --ledger, or move it away and a new one is made");
  unlink(path_.c_str());
  sql("CREATE TABLE people (name TEXT)");
  EXPECT_EQ(open_error(), path_ + ": is an SQLite file, but of another program, not a ledger; name another with --ledger");
  EXPECT_EQ(Ledger::open_existing(folder_.path() / "none").error().what,
            (folder_.path() / "none").string() + ": there is no ledger; `whet evaluate` makes one, --ledger names another");
  EXPECT_THAT(Ledger::open(folder_.path() / "no" / "folder").error().what, HasSubstr("the ledger cannot be opened (No such file or directory)"));
  EXPECT_THAT(Ledger::open(folder_.path()).error().what, HasSubstr("the ledger cannot be opened"));
}

TEST_F(LedgerTest, ANewerLedgerIsRefused) {
  open();
  sql("PRAGMA user_version = 1000");
  EXPECT_EQ(open_error(), fmt::format("{}: the ledger has schema 1000, this whet knows schemas up to {}; use a newer whet, or name another ledger with --ledger",
                                      path_, newest_schema()));
}

TEST_F(LedgerTest, ATruncatedLedgerIsRefused) {
  {
    Ledger ledger = open();
    for (int seed = 0; seed < 20; ++seed) ASSERT_TRUE(ledger.add(judgement(seed), kBlobs));
  }
  ASSERT_EQ(truncate(path_.c_str(), 10000), 0);
  EXPECT_THAT(open_error(), HasSubstr("the ledger is damaged (database disk image is malformed); restore it from a copy"));
}

TEST_F(LedgerTest, DamageIsFound) {
  {
    Ledger ledger = open();
    for (int seed = 0; seed < 20; ++seed) ASSERT_TRUE(ledger.add(judgement(seed), kBlobs));
  }
  sql("UPDATE blobs SET contents = 'int y;' WHERE contents = CAST('int x;' AS BLOB)");
  sql("UPDATE documents SET evaluation = replace(evaluation, '\"family\"', '\"famuly\"') WHERE number = 4");
  Ledger ledger = open();
  EXPECT_THAT(ledger.blob(sha256_hex("int x;")).error().what, HasSubstr("have changed; the ledger is damaged"));
  EXPECT_THAT(ledger.check().value(), ElementsAre(HasSubstr("are not those of its hash"), HasSubstr("workloads[0].family: missing")));
}

// Root may write every file, so a child without its rights tries.
TEST_F(LedgerTest, AReadOnlyLedgerIsRefused) {
  open();
  ASSERT_EQ(chmod(path_.c_str(), 0444), 0);
  ASSERT_EQ(chmod(folder_.path().c_str(), 0755), 0);
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  pid_t child = fork();
  if (child == 0) {
    [[maybe_unused]] int unprivileged = geteuid() == 0 ? setresuid(65534, 65534, 65534) : 0;
    std::string said = open_error();
    [[maybe_unused]] auto n = ::write(ends[1], said.data(), said.size());
    _exit(0);
  }
  close(ends[1]);
  std::string said(1000, '\0');
  said.resize(static_cast<std::size_t>(std::max<ssize_t>(0, read(ends[0], said.data(), said.size()))));
  close(ends[0]);
  waitpid(child, nullptr, 0);
  EXPECT_THAT(said, HasSubstr("the ledger cannot be written; give yourself write permission for the file and its folder"));
}

TEST_F(LedgerTest, AFullDiskIsOneClearErrorAndNothingIsHalfWritten) {
  open();
  auto database = Database::open(path_, false).value();
  auto pages = database->integer_of("PRAGMA page_count").value();
  ASSERT_TRUE(database->execute(fmt::format("PRAGMA max_page_count = {}", pages + 4).c_str()));  // what SQLite answers is that of a full disk
  Status status;
  {
    auto transaction = Transaction::begin(*database).value();
    for (int i = 0; status && i < 100; ++i) status = database->run("INSERT INTO blobs VALUES (?1, ?2)", std::to_string(i), std::string(10000, 'x'));
  }
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().what, path_ + ": no space left for the ledger; nothing was half-written; make room on its disk and do it again");
  EXPECT_EQ(status.error().blame, Blame::machine);
  EXPECT_EQ(database->integer_of("SELECT count(*) FROM blobs").value(), 0);
}

// A writer killed at any moment: what it had reported as written is there, once, and the file is sound.
TEST_F(LedgerTest, KillLosesNothing) {
  open();
  int begun = 0;
  for (int round = 0; round < 12; ++round) {
    int ends[2];
    ASSERT_EQ(pipe(ends), 0);
    pid_t child = fork();
    if (child == 0) {
      auto ledger = Ledger::open(path_);
      for (int seed = begun; ledger && ledger->add(judgement(seed), kBlobs); ++seed)
        if (::write(ends[1], &seed, sizeof seed) != sizeof seed) break;
      _exit(1);
    }
    close(ends[1]);
    int seed = 0, written = -1;
    for (int i = 0; i <= round % 4 && read(ends[0], &seed, sizeof seed) == sizeof seed; ++i) written = seed;
    usleep(static_cast<useconds_t>(round * 137));  // into the middle of the next transaction; any moment will do
    kill(child, SIGKILL);
    waitpid(child, nullptr, 0);
    while (read(ends[0], &seed, sizeof seed) == sizeof seed) written = seed;
    close(ends[0]);
    Ledger ledger = open();
    for (int i = 0; i <= written; ++i) ASSERT_TRUE(ledger.evaluation(judgement(i).evaluation.id)) << "round " << round << ", Evaluation " << i;
    auto complaints = ledger.check().value();
    ASSERT_THAT(complaints, IsEmpty());
    auto count = static_cast<int>(ledger.list({.limit = 0}).value().size());
    EXPECT_GE(count, written + 1);
    EXPECT_LE(count, written + 2);  // one may be written and not yet reported
    begun = count;
  }
  EXPECT_GT(begun, 12);
}

TEST_F(LedgerTest, TwoProgramsMayWriteAtOnce) {
  Ledger ours = open();
  pid_t child = fork();
  if (child == 0) {
    auto theirs = Ledger::open(path_);
    bool good = theirs.has_value();
    for (int seed = 1000; good && seed < 1030; ++seed) good = theirs->add(judgement(seed), kBlobs).has_value();
    _exit(good ? 0 : 1);
  }
  for (int seed = 0; seed < 30; ++seed) {
    auto added = ours.add(judgement(seed), kBlobs);
    ASSERT_TRUE(added) << added.error().what;
  }
  int status = 1;
  waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
  EXPECT_EQ(ours.list({.limit = 0}).value().size(), 60u);
}

// 2,000 samples a judgement, and a ledger of 100,000 Evaluations.
TEST_F(LedgerTest, IsQuick) {
  Ledger ledger = open();
  std::vector<double> times;
  for (int i = 0; i < 15; ++i) {
    Judgement large = judgement(i);
    large.evaluation = evaluation(i, 25, 40);
    times.push_back(milliseconds_of([&] { ASSERT_TRUE(ledger.add(large, kBlobs).value()); }));
  }
  std::sort(times.begin(), times.end());
  fmt::print("writing an Evaluation of 2,000 samples: median {:.1f} ms, best {:.1f} ms\n", times[7], times[0]);
  sql("WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 100000) "
      "INSERT INTO evaluations (id, task, task_hash, solution, solution_hash, \"set\", code, correct, total, at_par, geomean, geomean_low, geomean_high, noise_floor, "
      "started_at, worker, artifact, purpose, request_hash, summary, wall_seconds) "
      "SELECT printf('f%016x', i), 'task-' || (i % 7), 'h', 'solution-' || (i % 1000), printf('%064x', i), 'full', 0, 26, 26, 20, 1.5, 1.4, 1.6, 0.01, "
      "'2025-01-01T00:00:00Z', 'w', 'a', 'trial', 'r' || i, 'a summary of some length', 1 FROM n");
  std::size_t found = 0;
  // The best of three: what else the machine does is not the ledger's doing.
  const auto best_of = [](const auto& body) { return std::min({milliseconds_of(body), milliseconds_of(body), milliseconds_of(body)}); };
  double newest = best_of([&] { found += ledger.list({}).value().size(); });
  double by_solution = best_of([&] { found += ledger.list({.solution = "solution-77"}).value().size(); });
  double by_hash = best_of([&] { found += ledger.list({.solution = std::string(63, '0') + "5"}).value().size(); });
  double by_task = best_of([&] { found += ledger.list({.task = "task-3"}).value().size(); });
  double nothing = best_of([&] { found += ledger.list({.task = "task-3", .code = Code::wrong}).value().size(); });
  double by_id = milliseconds_of([&] { found += ledger.list({}).value().size(); (void)ledger.evaluation("f00000000000003e8"); });
  double all = milliseconds_of([&] { found += ledger.list({.limit = 0}).value().size(); });
  fmt::print("of 100,000: newest {:.2f}, by solution {:.2f}, by hash {:.2f}, by task {:.2f}, nothing found {:.2f}, by id {:.2f}, all rows {:.0f} ms\n", newest,
             by_solution, by_hash, by_task, nothing, by_id, all);
  EXPECT_GT(found, 100000u);
#ifndef WHET_SANITIZED
  EXPECT_LT(times[0], 40);
  EXPECT_LT(std::max({newest, by_solution, by_hash, by_task, nothing}), 50);
#endif
}

TEST(Export, Csv) {
  Evaluation one = evaluation(1, 1, 2);
  one.id = "e1";
  one.workloads[0].family = "a \"wide\", one";
  EXPECT_EQ(csv_header() + csv_rows(one),
            "evaluation,task,solution_judged,workload,family,solution,role,verdict,column,draw,position,ns,discarded\r\n"
            "e1,rmsnorm-cpu,mine,w0,\"a \"\"wide\"\", one\",mine,candidate,correct,flushed,0,0,101.5,\r\n"
            "e1,rmsnorm-cpu,mine,w0,\"a \"\"wide\"\", one\",mine,candidate,correct,flushed,1,1,102.5,\"preempted, twice\"\r\n"
            "e1,rmsnorm-cpu,mine,w0,\"a \"\"wide\"\", one\",onednn,baseline,correct,flushed,0,0,101.5,\r\n"
            "e1,rmsnorm-cpu,mine,w0,\"a \"\"wide\"\", one\",onednn,baseline,correct,flushed,1,1,102.5,\"preempted, twice\"\r\n");
}

std::vector<Json> traces(const Evaluation& evaluation, const std::map<std::string, Json>& workloads = {}) {
  std::vector<Json> result;
  std::istringstream lines(trace_lines(evaluation, workloads));
  for (std::string line; std::getline(lines, line);) result.push_back(parse_json(line, "trace").value());
  return result;
}

TEST(Export, TraceKeepsTheNullTable) {
  for (const CodeRow& row : all_codes()) {
    Evaluation one = evaluation(1, 1, 2);
    one.workloads[0].trials[0].verdict.code = row.code;
    one.workloads[0].trials.pop_back();
    auto lines = traces(one);
    if (row.code == Code::not_run || row.code == Code::cancelled) {
      EXPECT_TRUE(lines.empty());
      continue;
    }
    ASSERT_EQ(lines.size(), 1u) << row.name;
    const Json& outcome = lines[0]["evaluation"];
    std::string status = outcome["status"];
    EXPECT_EQ(outcome["correctness"].is_null(), status != "PASSED" && status != "INCORRECT_NUMERICAL") << row.name;
    EXPECT_EQ(outcome["performance"].is_null(), status != "PASSED") << row.name;
    EXPECT_THAT(status, ::testing::AnyOf("PASSED", "INCORRECT_NUMERICAL", "RUNTIME_ERROR", "COMPILE_ERROR", "TIMEOUT")) << row.name;
    EXPECT_EQ(status == "PASSED", row.code == Code::correct) << row.name;
  }
}

TEST(Export, Trace) {
  Evaluation one = evaluation(1, 1, 3);
  one.workloads[0].trials[1].samples[Column::flushed] = {{0, 0, 206, ""}};
  one.workloads[0].trials[0].accuracy.worst_relative = std::numeric_limits<double>::quiet_NaN();
  one.workloads[0].trials[0].accuracy.worst_absolute = std::numeric_limits<double>::infinity();
  auto lines = traces(one, {{"w0", Json{{"uuid", "u"}, {"axes", {{"rows", 4}}}, {"inputs", Json::object()}}}});
  ASSERT_EQ(lines.size(), 2u);
  EXPECT_EQ(lines[0]["definition"], "rmsnorm");
  EXPECT_EQ(lines[0]["solution"], "mine");
  EXPECT_EQ(lines[0]["workload"]["axes"]["rows"], 4);
  const Json& outcome = lines[0]["evaluation"];
  EXPECT_EQ(outcome["environment"].dump(), R"({"hardware":"A CPU","libs":{"onednn":"2.6"}})");
  EXPECT_EQ(outcome["correctness"]["max_relative_error"], "NaN");
  EXPECT_EQ(outcome["correctness"]["max_absolute_error"], "Infinity");
  EXPECT_EQ(outcome["performance"]["latency_ms"], 102.5e-6);  // the middle one of three was discarded
  EXPECT_DOUBLE_EQ(outcome["performance"]["speedup_factor"], 206 / 102.5);
  EXPECT_EQ(lines[0]["whet"]["solution_hash"], one.solution_hash);
  one.workloads[0].trials[0].samples.clear();
  EXPECT_EQ(traces(one)[0]["evaluation"]["status"], "RUNTIME_ERROR") << "right, but without a time";
}

}  // namespace
}  // namespace whet
