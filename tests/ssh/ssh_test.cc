// SPDX-License-Identifier: Apache-2.0
// Workers behind a real sshd: copied once, as good as a local one, and gone with their connection.
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <functional>
#include <optional>
#include <set>
#include <thread>

#include "base/hash.h"
#include "base/json_impl.h"
#include "tests/cli/run_whet.h"
#include "tests/killed/processes.h"
#include "tests/ssh/sshd.h"
#include "wire/client.h"

namespace whet {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::AnyOf;
using ::testing::HasSubstr;

const std::string kPrograms = WHET_BINARY_DIR "/bin";
// For a workload; with a sanitizer the judge needs longer for as many samples.
#ifdef WHET_SANITIZED
constexpr const char* kSeconds = "2";
#else
constexpr const char* kSeconds = "0.2";
#endif

// Looks 50 times a second, because a look at all processes costs milliseconds that the judge needs; gives up after a minute.
bool soon(const std::function<bool()>& condition) {
  return within(3000, [&] {
    if (condition()) return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(19));
    return false;
  });
}

class Ssh : public WhetTest {
 protected:
  void SetUp() override {
    if (const std::string why = Sshd::missing(); !why.empty()) GTEST_SKIP() << why;
    WhetTest::SetUp();
    adopt_orphans();
    auto started = Sshd::start(folder() / "ssh");
    ASSERT_TRUE(started) << started.error().what;
    sshd_.emplace(std::move(*started));
  }
  void TearDown() override {
    if (!sshd_) return;
    sshd_->kill_connections();
    sshd_->kill_listener();
    EXPECT_TRUE(nothing_left()) << "left behind: " << names_of(descendants(getpid()));
  }

  std::string setting() const { return fmt::format("{}", fmt::join(sshd_->client(), " ")); }
  // `whet WORDS` of the programs in a folder, with this ssh.
  ProcessSpec spec_with_ssh(std::vector<std::string> words, const std::string& programs = kPrograms) {
    ProcessSpec spec = spec_of(words);
    spec.argv.front() = programs + "/whet";
    (*spec.environment)["WHET_SSH"] = setting();
    return spec;
  }
  ProcessResult whet_by_ssh(const std::vector<std::string>& words, const std::string& programs = kPrograms) {
    ProcessSpec spec = spec_with_ssh(words, programs);
    spec.deadline = std::chrono::seconds(120);
    auto result = run_process(spec);
    EXPECT_TRUE(result) << result.error().what;
    return result ? *result : ProcessResult{};
  }
  void expect_no_worker(const std::string& address, const std::string& text, const std::string& programs = kPrograms) {
    const ProcessResult result = whet_by_ssh({"machine", "--worker", address}, programs);
    EXPECT_EQ(result.exit_code, 3) << result.out;
    EXPECT_EQ(result.err, "whet: worker " + address + ": " + text + "\n");
  }

  // A client of the protocol itself: much is to be seen without a judgement.
  Expected<std::unique_ptr<WorkerClient>> open(const std::string& address = "ssh://gpu", const std::string& programs = kPrograms) {
    WHET_TRY(const WorkerAddress where, parse_worker_address(address, "test"));
    return open_worker({.where = where,
                        .program_folder = programs,
                        .ssh = sshd_->client(),
                        .ssh_environment = {{"HOME", folder()}, {"PATH", "/usr/bin:/bin"}},
                        .notice = [this](const std::string& line) { notices_.push_back(line); }});
  }
  fs::path far_file() const { return sshd_->far_folder() / ("whet-worker-" + sha256_hex(*read_file(kPrograms + "/whet-worker"))); }
  std::vector<std::string> far_files() const {
    std::vector<std::string> names;
    for (const auto& entry : fs::directory_iterator(sshd_->far_folder())) names.push_back(entry.path().filename());
    return names;
  }

  // What is below the sshd, its own processes left out: workers, runners, compilers, and the shell between.
  static std::vector<Descendant> at_work(pid_t below) {
    std::vector<Descendant> all = descendants(below);
    std::erase_if(all, [](const Descendant& one) { return one.name.starts_with("sshd"); });
    return all;
  }
  bool a_runner_is_at_work() const {
    return std::ranges::any_of(at_work(sshd_->pid()), [](const Descendant& one) { return one.command.find("--runner") != std::string::npos; });
  }
  static bool nothing_left() {
    return soon([] {
      reap_orphans(-1);
      return descendants(getpid()).empty();
    });
  }

  std::optional<Sshd> sshd_;
  std::vector<std::string> notices_;
};

TEST_F(Ssh, TheWorkerIsCopiedOnFirstUseOnly) {
  {
    auto first = open();
    ASSERT_TRUE(first) << first.error().what;
    EXPECT_EQ((*first)->process_id(), -1);
    ASSERT_EQ(notices_.size(), 1u);
    EXPECT_THAT(notices_.front(), AllOf(HasSubstr("sending the worker ("), HasSubstr(") to ssh://gpu, once for this build of it")));
    EXPECT_EQ(far_files(), std::vector<std::string>{far_file().filename()});
    EXPECT_TRUE((*first)->put_blobs({{sha256_hex("contents"), "contents"}}));
  }
  struct stat before {}, after {};
  ASSERT_EQ(stat(far_file().c_str(), &before), 0);
  auto second = open();
  ASSERT_TRUE(second) << second.error().what;
  EXPECT_EQ(notices_.size(), 1u) << "nothing was sent";
  ASSERT_EQ(stat(far_file().c_str(), &after), 0);
  EXPECT_EQ(before.st_ino, after.st_ino);
}

TEST_F(Ssh, AnotherFileOfThatNameIsReplaced) {
  ASSERT_TRUE(open());
  ASSERT_TRUE(write_file_atomically(far_file(), "#!/bin/sh\necho I am nobody\n"));
  chmod(far_file().c_str(), 0755);
  auto worker = open();
  ASSERT_TRUE(worker) << worker.error().what;
  EXPECT_EQ(notices_.size(), 2u);
}

TEST_F(Ssh, TwoClientsAtOnce) {
  std::vector<std::string> errors(2);
  std::vector<std::thread> clients;
  for (std::string& error : errors)
    clients.emplace_back([&] {
      const auto where = parse_worker_address("ssh://gpu", "test");
      const auto worker = open_worker(
          {.where = *where, .program_folder = kPrograms, .ssh = sshd_->client(), .ssh_environment = {{"HOME", folder()}, {"PATH", "/usr/bin:/bin"}}});
      if (!worker) error = worker.error().what;
    });
  for (std::thread& client : clients) client.join();
  EXPECT_EQ(errors, std::vector<std::string>(2));
  EXPECT_EQ(far_files().size(), 1u);
}

TEST_F(Ssh, EachFailureToConnectHasItsOwnText) {
  const std::string ssh = setting();
  expect_no_worker("ssh://stranger", "the host key of stranger is not known; connect once by hand and compare it: " + ssh + " stranger");
  expect_no_worker("ssh://changed",
                   "changed has another host key than the one that is known for it; ask who runs it before you trust the new one (ssh-keygen -R removes the old)");
  const std::string me = geteuid() == 0 ? "root" : std::getenv("USER") ? std::getenv("USER") : "nobody";
  expect_no_worker("ssh://" + me + "@refused", me + "@refused refuses the login without a password (" + me +
                                                   "@127.0.0.1: Permission denied (publickey).); set up a key, until this works: " + ssh + " " + me +
                                                   "@refused -o BatchMode=yes");
  expect_no_worker(fmt::format("ssh://gpu:{}", sshd_->closed_port()),
                   fmt::format("gpu cannot be reached (ssh: connect to host 127.0.0.1 port {}: Connection refused); look at the name, the port and the network",
                               sshd_->closed_port()));
  expect_no_worker("ssh://loud",
                   "something there writes to standard output before the worker does, which breaks the protocol; found 'Welcome to the cluster'. Have ~/.bashrc and "
                   "the like on that machine write to standard error, or in interactive shells only");
}

TEST_F(Ssh, APlaceThatCannotBeHadIsSaid) {
  const ProcessResult result = whet_by_ssh({"machine", "--worker", "ssh://gpu/proc/nowhere"});
  EXPECT_EQ(result.exit_code, 3);
  EXPECT_THAT(result.err, AllOf(HasSubstr("whet: worker ssh://gpu/proc/nowhere: its program could not be put there: mkdir: "),
                                HasSubstr("; ssh://HOST/FOLDER names another folder\n")));
}

TEST_F(Ssh, ProgramsThatAreMissingHereAreSaid) {
  ProcessSpec spec = spec_with_ssh({"machine", "--worker", "ssh://gpu"});
  (*spec.environment)["WHET_SSH"] = "no-such-ssh -F x";
  auto result = run_process(spec);
  ASSERT_TRUE(result);
  EXPECT_EQ(result->exit_code, 2);
  EXPECT_EQ(result->err, "whet: worker ssh://gpu: the program 'no-such-ssh' is not in the search path; install it (openssh-client), or name another with WHET_SSH\n");
  fs::create_directories(folder() / "alone");
  fs::copy_file(kPrograms + "/whet", folder() / "alone/whet");
  const ProcessResult alone = whet_by_ssh({"machine", "--worker", "ssh://gpu"}, folder() / "alone");
  EXPECT_EQ(alone.exit_code, 2);
  EXPECT_THAT(alone.err, AllOf(HasSubstr("whet: worker ssh://gpu: the program that is to run there cannot be read: "), HasSubstr("alone/whet-worker"),
                               HasSubstr("build it with `make portable`\n")));
}

TEST_F(Ssh, AWorkerThatLacksLibrariesOverThereNamesThemAndTheRemedy) {
  std::string program = *read_file(kPrograms + "/whet-worker");
  const std::string library = "libseccomp.so.2";
  if (program.find(library) == std::string::npos) GTEST_SKIP() << "this worker was built without shared libraries";
  for (std::size_t at; (at = program.find(library)) != std::string::npos;) program.replace(at, library.size(), "libseccomp.so.0");
  const fs::path programs = folder() / "other";
  fs::create_directories(programs);
  ASSERT_TRUE(write_file_atomically(programs / "whet-worker", program));
  auto worker = open("ssh://gpu", programs);
  ASSERT_FALSE(worker);
  EXPECT_THAT(worker.error().what,
              AllOf(HasSubstr("the worker (ssh://gpu) exited there with code 127 during `hello`"), HasSubstr("libseccomp.so.0: cannot open shared object file"),
                    HasSubstr("; that machine lacks libraries: `make portable` builds a worker that needs none of them (build/portable/bin)")));
}

TEST_F(Ssh, AWorkerThatIsKilledThereIsToldFromALostConnection) {
  auto worker = open();
  ASSERT_TRUE(worker) << worker.error().what;
  for (const Descendant& process : at_work(sshd_->pid()))
    if (process.name.starts_with("whet-worker")) kill(process.pid, SIGKILL);
  EXPECT_THAT((*worker)->call("hello", Json::object()).error().what, HasSubstr("the worker (ssh://gpu) was killed there by signal 9 (Killed) during `hello`"));

  auto another = open();
  ASSERT_TRUE(another);
  sshd_->kill_connections();
  EXPECT_THAT((*another)->call("hello", Json::object()).error().what,
              AllOf(HasSubstr("the worker (ssh://gpu) was lost with its connection during `hello`; the end of its stderr: "),
                    AnyOf(HasSubstr("closed"), HasSubstr("Broken pipe"))));
}

// ---- a whole judgement

class SshJudging : public Ssh {
 protected:
  std::vector<std::string> evaluate(const std::string& name) {
    return {"evaluate", "rmsnorm-cpu", "start", "--set", "smoke", "--seconds", kSeconds, "--again", "--ledger", name + ".db", "--json", name + ".json",
            "--cache", (folder() / "c").string()};
  }
  // The result's shape: its keys, names and verdicts, without what is measured.
  static Json shape(const Json& json) {
    if (json.is_object()) {
      Json shape = Json::object();
      for (const auto& [key, value] : json.items()) shape[key] = shape_of_value(key, value);
      return shape;
    }
    if (!json.is_array()) return json.type_name();
    std::vector<std::string> items;  // some lists are sorted by what is measured
    for (const Json& item : json) items.push_back(shape(item).dump());
    std::ranges::sort(items);
    return items;
  }
  static Json shape_of_value(const std::string& key, const Json& value) {
    static const std::set<std::string> same = {"name", "workload", "solution", "role", "family", "task", "solution_hash", "task_hash", "code"};
    if (same.contains(key)) return value;
    // As long as it takes: samples, remarks.
    if (value.is_array() && (value.empty() || !value.front().is_object())) return "list";
    return shape(value);
  }
  Json result(const std::string& name) {
    auto json = parse_json(read(name + ".json"), name);
    EXPECT_TRUE(json) << json.error().what;
    return json ? *json : Json();
  }
  // Runs it with its output in the files out and err.
  Process begin(const std::vector<std::string>& words) {
    ProcessSpec spec = spec_with_ssh(words);
    spec.argv.insert(spec.argv.begin(), {"/bin/sh", "-c", "exec \"$@\" >out 2>err", "sh"});
    (*spec.environment)["WHET_WORKER"] = "ssh://gpu";
    auto process = Process::start(spec);
    EXPECT_TRUE(process) << process.error().what;
    return process ? std::move(*process) : Process();
  }
  int exit_code_of(Process& process) {
    const auto end = process.wait(std::chrono::seconds(60));
    EXPECT_TRUE(end && *end) << "it does not end";
    return end && *end ? (*end)->exit_code : -1;
  }
};

TEST_F(SshJudging, IsWhatALocalOneGivesAndIsLostOnlyWithItsSecondConnection) {
  const ProcessResult here = whet(evaluate("here"));
  ASSERT_TRUE(here.exit_code == 0 || here.exit_code == 1) << here.err;
  std::vector<std::string> words = evaluate("there");
  words.insert(words.end(), {"--worker", "ssh://gpu"});
  const ProcessResult there = whet_by_ssh(words);
  ASSERT_TRUE(there.exit_code == 0 || there.exit_code == 1) << there.err;
  EXPECT_EQ(shape(result("there")).dump(1), shape(result("here")).dump(1));
  EXPECT_EQ(result("there")["scoreboard"]["workloads_correct"], 2);
  EXPECT_TRUE(at_work(sshd_->pid()).empty());

  // Its connection is killed: a fresh worker takes over. Then no other can be had.
  Process lost = begin(evaluate("lost"));
  ASSERT_TRUE(soon([&] { return a_runner_is_at_work(); })) << read("err");
  sshd_->kill_connections();
  ASSERT_TRUE(soon([&] { return !a_runner_is_at_work(); }));
  ASSERT_TRUE(soon([&] { return a_runner_is_at_work(); })) << "no fresh worker: " << read("err");
  sshd_->kill_connections();
  EXPECT_EQ(exit_code_of(lost), 3);
  EXPECT_THAT(read("err"), AllOf(HasSubstr("the worker failed twice on the same evaluation"), HasSubstr("the worker (ssh://gpu) was lost with its connection during `evaluate`")));
  EXPECT_FALSE(fs::exists(folder() / "lost.json"));

  Process interrupted = begin(evaluate("interrupted"));
  ASSERT_TRUE(soon([&] { return a_runner_is_at_work(); })) << read("err");
  interrupted.signal(SIGINT);
  EXPECT_EQ(exit_code_of(interrupted), 130);
  EXPECT_THAT(read("err"), HasSubstr("interrupted; nothing was written into the ledger"));
  EXPECT_TRUE(soon([&] { return at_work(sshd_->pid()).empty(); })) << "left behind: " << names_of(at_work(sshd_->pid()));
}

}  // namespace
}  // namespace whet
