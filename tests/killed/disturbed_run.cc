// SPDX-License-Identifier: Apache-2.0
#include "tests/killed/disturbed_run.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <iterator>
#include <thread>

#include "base/json_impl.h"
#include "sandbox/cgroup.h"

namespace whet {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;
using ::testing::AnyOf;
using ::testing::HasSubstr;

constexpr int kLooksUntilGone = 3000;    // for what is left of a killed whet to go by itself
constexpr int kLooksUntilDone = 240000;  // for a command to end
constexpr const char* kWorkPrefix = "whet-build-work-";

bool nothing_below_us() {
  reap_orphans(-1);
  return descendants(getpid()).empty();
}

// Work folders of builds that nobody has locked.
std::vector<fs::path> abandoned_folders() {
  std::vector<fs::path> found;
  for (const auto& entry : fs::directory_iterator("/tmp")) {
    if (!entry.path().filename().string().starts_with(kWorkPrefix)) continue;
    const Descriptor folder(open(entry.path().c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (folder && flock(folder.get(), LOCK_EX | LOCK_NB) == 0) found.push_back(entry.path());
  }
  return found;
}

std::vector<fs::path> groups_of(const std::vector<pid_t>& workers) {
  std::vector<fs::path> found;
  for (const auto* place : {&Cgroup::memory_place(), &Cgroup::pids_place()}) {
    if (place->folder.empty()) continue;
    for (const auto& entry : fs::directory_iterator(place->folder))
      if (std::ranges::any_of(workers, [&](pid_t worker) {
            return entry.path().filename().string().starts_with(fmt::format("whet-{}-", worker));
          }))
        found.push_back(entry.path());
  }
  return found;
}

}  // namespace

DisturbedRun::DisturbedRun(uint64_t seed)
    : random_(seed), folder_(std::move(*TemporaryDirectory::make("whet-killed"))) {}

DisturbedRun::~DisturbedRun() {
  if (whet_.pid() > 0) ::kill(whet_.pid(), SIGKILL);
}

void DisturbedRun::drive(std::vector<Kill> kills) {
  std::ranges::sort(kills, {}, &Kill::moment);
  optimize();
  for (const Kill& kill : kills) {
    if (!reach(kill.moment)) break;
    strike(kill);
    if (::testing::Test::HasFatalFailure()) return;
  }
  while (go_on_after_end()) {}
  said_ += read("err");
  EXPECT_TRUE(within(kLooksUntilGone, nothing_below_us)) << "left behind: " << names_of(descendants(getpid()));
  expect_kept(known_, recorded_in(ledger()));
  expect_sound_run(ledger(), folder_.path() / "r");
  const auto json = parse_json(read("result.json"), "result.json");
  ASSERT_TRUE(json) << json.error().what;
  EXPECT_EQ((*json)["scoreboard"]["workloads_correct"], 3);
}

void DisturbedRun::expect_no_remains() {
  begin("machine", "--json machine.json");
  while (!ended()) nap();
  EXPECT_THAT(abandoned_folders(), ::testing::IsEmpty());
  EXPECT_THAT(groups_of(workers_), ::testing::IsEmpty());
}

// ---- whet

void DisturbedRun::optimize() {
  begin(fmt::format("optimize {}/tests/killed/task --run ./r --steps 8", WHET_SOURCE_DIR),
        "--ledger l.db --json result.json");
}

void DisturbedRun::begin(const std::string& verb, const std::string& options) {
  ProcessSpec spec;
  // Into files, because nobody reads a pipe meanwhile.
  spec.argv = {"/bin/sh", "-c",
               fmt::format("exec {}/bin/whet {} {} --cache c >out 2>err", WHET_BINARY_DIR, verb, options)};
  spec.environment = {{"HOME", folder_.path()}, {"PATH", "/usr/local/bin:/usr/bin:/bin"}};
  spec.working_directory = folder_.path();
  auto started = Process::start(spec);
  ASSERT_TRUE(started) << started.error().what;
  whet_ = std::move(*started);
  verb_ = verb;
  looked_at_ = Clock::now();
}

bool DisturbedRun::ended() {
  const auto end = whet_.poll();
  EXPECT_TRUE(end) << end.error().what;
  return !end || end->has_value();
}

// A look of a millisecond; what takes longer is a machine that had no time for us, and counts little.
void DisturbedRun::nap() {
  std::this_thread::sleep_for(std::chrono::milliseconds(1));
  const auto now = Clock::now();
  active_ += std::min(0.02, std::chrono::duration<double>(now - looked_at_).count());
  looked_at_ = now;
  reap_orphans(whet_.pid());
}

// False when the run has come to its end before.
bool DisturbedRun::reach(double moment) {
  while (active_ < moment) {
    if (ended() && !go_on_after_end()) return false;
    nap();
  }
  return true;
}

// Waits for the end of the present command. Starts another one, and says true, when the run is not over: it had not begun, or the machine has
// failed and to resume is what whet advises.
bool DisturbedRun::go_on_after_end() {
  for (int look = 0; look < kLooksUntilDone && !ended(); ++look) nap();
  EXPECT_TRUE(ended()) << verb_ << " does not end";
  if (!ended()) return false;
  const Process::End end = **whet_.poll();
  if (end.exit_code == 0 || end.exit_code == 1) return false;
  const std::string error = read("err");
  said_ += error;
  const bool resumed = verb_.starts_with("resume");
  if (resumed && end.exit_code == 2 && recorded_in(ledger()).empty()) {
    EXPECT_THAT(error, AnyOf(HasSubstr("'whet optimize' begins it"), HasSubstr("there is no run './r': no folder")));
    outcomes_.back().then = "it had not begun, begun anew";
    optimize();
    return true;
  }
  EXPECT_EQ(end.exit_code, 3) << verb_ << " ended with signal " << end.signal << ": " << error;
  if (end.exit_code != 3 || outcomes_.empty()) return false;
  EXPECT_THAT(error, HasSubstr("whet resume"));
  outcomes_.back().then += "; exit code 3, resumed";
  resume();
  return true;
}

// ---- the kills

std::vector<Descendant> DisturbedRun::victims(Kind kind) {
  if (kind == Kind::whet) return {{.pid = whet_.pid(), .parent = getpid(), .name = "whet", .command = {}}};
  std::vector<Descendant> found;
  const auto all = descendants(whet_.pid());
  for (const Descendant& worker : all) {
    if (worker.parent != whet_.pid() || worker.name != "whet-worker") continue;
    workers_.push_back(worker.pid);
    if (kind == Kind::worker) found.push_back(worker);
    else
      std::ranges::copy_if(all, std::back_inserter(found),
                           [&](const Descendant& one) { return one.parent == worker.pid; });
  }
  return found;
}

void DisturbedRun::strike(const Kill& kill) {
  std::vector<Descendant> found;
  while ((found = victims(kill.kind)).empty()) {
    if (ended() && !go_on_after_end()) return;
    nap();
  }
  const Descendant victim = found[std::uniform_int_distribution<std::size_t>(0, found.size() - 1)(random_)];
  outcomes_.push_back({kill, victim.name, "went on"});
  remember(recorded_in(ledger()));
  if (kill.kind == Kind::whet) strike_whet();
  else ::kill(victim.pid, SIGKILL);
}

void DisturbedRun::strike_whet() {
  (void)victims(Kind::worker);
  ::kill(whet_.pid(), SIGKILL);
  ASSERT_TRUE(within(kLooksUntilGone, [&] { return ended(); }));
  // Every second time at once, as a supervisor would resume it: what the dead one left may still be on its way out.
  const bool at_once = std::bernoulli_distribution(0.5)(random_);
  const auto since = Clock::now();
  if (!at_once) {
    EXPECT_TRUE(within(kLooksUntilGone, nothing_below_us)) << "left behind: " << names_of(descendants(getpid()));
  }
  const double left_for = std::chrono::duration<double>(Clock::now() - since).count();
  remember(recorded_in_copy(ledger()));
  said_ += read("err");
  outcomes_.back().then =
      at_once ? "resumed at once" : fmt::format("nothing left after {:.0f} ms, resumed", left_for * 1e3);
  resume();
  EXPECT_TRUE(within(kLooksUntilGone, [&] { return orphans().empty(); })) << "left behind: " << names_of(orphans());
}

// What is below us and does not belong to the whet that is at work.
std::vector<Descendant> DisturbedRun::orphans() {
  reap_orphans(whet_.pid());
  std::vector<Descendant> all = descendants(getpid());
  const auto present = descendants(whet_.pid());
  std::erase_if(all, [&](const Descendant& one) {
    return one.pid == whet_.pid() ||
           std::ranges::any_of(present, [&](const Descendant& two) { return two.pid == one.pid; });
  });
  return all;
}

void DisturbedRun::remember(const Recorded& recorded) {
  expect_kept(known_, recorded);
  known_ = recorded;
}

}  // namespace whet
