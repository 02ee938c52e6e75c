// SPDX-License-Identifier: Apache-2.0
#include "sandbox/jail.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <thread>

#include "base/file.h"
#include "sandbox/cgroup.h"

namespace whet {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;
using testing::Not;
namespace fs = std::filesystem;

const std::string kPayload = WHET_BINARY_DIR "/bin/sandbox_payload";

bool stands(const std::string& name) {
  for (const Wall& wall : jail_walls())
    if (wall.name == name) return wall.standing;
  ADD_FAILURE() << "no wall is called " << name;
  return false;
}

// Without a cgroup it is RLIMIT_DATA, which also counts a sanitizer's shadow: terabytes that nobody touches.
bool memory_can_be_limited() {
#ifdef WHET_SANITIZED
  return stands("cgroup_memory");
#else
  return true;
#endif
}

JailSpec payload(std::vector<std::string> words, SyscallProfile profile = SyscallProfile::build) {
  JailSpec spec;
  spec.argv = std::move(words);
  spec.argv.insert(spec.argv.begin(), kPayload);
  spec.read_only = {{kPayload, kPayload}};
  spec.profile = profile;
  spec.limits.processes = 32;
  if (memory_can_be_limited()) spec.limits.memory_bytes = size_t{256} << 20;
  return spec;
}

JailSpec runner(std::vector<std::string> words) {
  words.insert(words.begin(), "--runner");
  return payload(std::move(words), SyscallProfile::runner);
}

struct Ran {
  JailExit exit;
  std::string output;
};

Ran run(const JailSpec& spec) {
  auto jailed = Jailed::start(spec);
  if (!jailed) {
    ADD_FAILURE() << jailed.error().what;
    return {};
  }
  const auto exit = jailed->wait(30s);
  if (!exit || !*exit) {
    ADD_FAILURE() << "it still runs: " << jailed->output();
    return {};
  }
  return {**exit, jailed->output()};
}

#define WHET_NEEDS_WALL(name) \
  if (!stands(name)) GTEST_SKIP() << "this machine refuses the wall " << name

TEST(Jail, EveryWallHasAStateAndARefusedOneAReason) {
  for (const Wall& wall : jail_walls()) {
    EXPECT_NE(wall.standing, !wall.reason.empty()) << wall.name << ": " << wall.reason;
    if (!wall.standing) std::printf("refused here: %s: %s\n", wall.name.c_str(), wall.reason.c_str());
  }
}

TEST(Jail, RunsAProgramAsNobodyWithAnEmptyEnvironment) {
  const auto ran = run(payload({"hello"}));
  EXPECT_EQ(ran.exit.code, 0) << ran.exit.sentence;
  EXPECT_THAT(ran.output, HasSubstr(" as 65534 in /"));
  if (stands("pid_namespace")) {
    EXPECT_THAT(ran.output, HasSubstr("hello from 1 "));
  }
  EXPECT_EQ(run(payload({"environment"})).output, "(empty)\n");
  auto spec = payload({"environment"});
  spec.environment = {{"A", "b c"}};
  EXPECT_EQ(run(spec).output, "A=b c\n");
}

TEST(Jail, TellsHowItEnded) {
  EXPECT_EQ(run(payload({"exit", "7"})).exit.code, 7);
  const auto crash = run(runner({"crash"})).exit;
  EXPECT_EQ(crash.signal, SIGSEGV);
  EXPECT_EQ(crash.sentence, "ended by signal 11 (Segmentation fault)");
  EXPECT_EQ(run(runner({"abort"})).exit.signal, SIGABRT);
  auto missing = payload({"hello"});
  missing.argv[0] = "/no/such/program";
  EXPECT_THAT(Jailed::start(missing).error().what,
              testing::AllOf(HasSubstr("execute /no/such/program"), HasSubstr("No such file")));
}

TEST(Jail, CannotWriteOutsideItsFolders) {
  for (const char* path : {"/etc/whet-escape", "/usr/whet-escape", "/whet-escape", "/tmp/whet-escape",
                           "/dev/whet-escape", "/proc/self/mem"})
    EXPECT_THAT(run(payload({"write", path})).output, HasSubstr("refused")) << path;
  EXPECT_FALSE(fs::exists("/etc/whet-escape"));
}

TEST(Jail, CannotReadHomesOrSecrets) {
  for (const char* path : {"/etc/shadow", "/etc/passwd", "/root/.bashrc"})
    EXPECT_THAT(run(payload({"read", path})).output, HasSubstr("refused")) << path;
  if (stands("mount_namespace")) {
    EXPECT_THAT(run(payload({"list", "/"})).output, Not(testing::AnyOf(HasSubstr("root\n"), HasSubstr("home\n"))));
    EXPECT_THAT(run(payload({"list", "/etc"})).output, Not(HasSubstr("passwd")));
  }
  EXPECT_THAT(run(payload({"list", "/root"})).output, HasSubstr("refused"));
}

TEST(Jail, CallsThatNoHonestProgramMakesAreRefused) {
  WHET_NEEDS_WALL("seccomp");
  for (const char* deed : {"socket", "ptrace", "mount", "unshare", "setuid"})
    EXPECT_THAT(run(payload({deed})).output, HasSubstr("refused: ")) << deed;
}

TEST(Jail, TheRunnerFilterNamesTheCallThatWasMade) {
  WHET_NEEDS_WALL("seccomp");
  for (const auto& [deed, call] : std::map<std::string, std::string>{{"socket", "socket"},
                                                                     {"ptrace", "ptrace"},
                                                                     {"mount", "mount"},
                                                                     {"unshare", "unshare"},
                                                                     {"fork", "clone"},
                                                                     {"exec", "execve"},
                                                                     {"kill", "kill"}}) {
    auto spec = runner({deed, "-1"});
    const auto ran = run(spec);
    EXPECT_EQ(ran.exit.forbidden_syscall, call) << ran.exit.sentence << ran.output;
    EXPECT_THAT(ran.exit.sentence, HasSubstr("made the forbidden system call " + call));
  }
  EXPECT_THAT(run(runner({"timer"})).output, HasSubstr("refused: timer_create"));
}

TEST(Jail, CannotKillItsParent) {
  const auto ran = run(payload({"kill", std::to_string(::getpid())}));
  EXPECT_THAT(ran.output, HasSubstr("refused: kill"));
}

TEST(Jail, SeesNoOtherProcess) {
  WHET_NEEDS_WALL("private_proc");
  const auto listing = run(payload({"list", "/proc"})).output;
  EXPECT_THAT(listing, HasSubstr("1\n"));
  EXPECT_THAT(listing, Not(HasSubstr(std::to_string(::getpid()) + "\n")));
}

TEST(Jail, AForkBombIsBounded) {
  auto spec = payload({"fork-bomb", "1000"});
  spec.limits.processes = 8;
  const auto ran = run(spec);
  int made = 1000;
  ASSERT_EQ(std::sscanf(ran.output.c_str(), "forked %d", &made), 1) << ran.output;
  EXPECT_LT(made, 8);
  if (stands("user_namespace")) {
    EXPECT_THAT(run(payload({"raise-nproc"})).output, HasSubstr("refused"));
  }
}

TEST(Jail, ChildrenOfThePayloadEndWithIt) {
  auto spec = payload({"fork-bomb", "3"});
  auto jailed = Jailed::start(spec).value();
  const pid_t leader = jailed.pid();
  ASSERT_TRUE(jailed.wait(10s).value());
  for (const auto& entry : fs::directory_iterator("/proc")) {
    const auto stat = read_file(entry.path() / "stat", 4096);
    if (!stat || stat->find(")") == std::string::npos) continue;
    int parent = 0, group = 0, session = 0;
    char state = 0;
    if (std::sscanf(stat->c_str() + stat->rfind(')') + 1, " %c %d %d %d", &state, &parent, &group, &session) != 4)
      continue;
    EXPECT_FALSE(session == leader && state != 'Z') << entry.path();
  }
}

TEST(Jail, ThreadsAreBoundedToo) {
  if (!stands("cgroup_pids") && !stands("user_namespace")) GTEST_SKIP() << "nothing here counts threads";
  auto spec = runner({"threads", "1000"});
  spec.limits.processes = 16;
#ifdef WHET_SANITIZED  // ThreadSanitizer has a thread of its own
  EXPECT_THAT(run(spec).output, testing::AnyOf(HasSubstr("started 15 threads"), HasSubstr("started 14 threads")));
#else
  EXPECT_THAT(run(spec).output, HasSubstr("started 15 threads"));
#endif
}

TEST(Jail, MemoryThatIsTouchedBeyondTheLimitEndsIt) {
  if (!memory_can_be_limited()) GTEST_SKIP() << "a program with a sanitizer does not start below such a limit";
  auto spec = payload({"touch", "2000"});
  spec.limits.memory_bytes = size_t{64} << 20;
  const auto ran = run(spec);
  if (stands("cgroup_memory")) {
    EXPECT_EQ(ran.exit.signal, SIGKILL);
    EXPECT_TRUE(ran.exit.memory_limit_hit);
    EXPECT_FALSE(ran.exit.killed_by_us);
    EXPECT_THAT(ran.exit.sentence, HasSubstr("memory"));
  } else {
    EXPECT_THAT(ran.output, HasSubstr("refused: map memory"));
  }
  EXPECT_THAT(run(payload({"touch", "20"})).output, HasSubstr("DONE"));
}

TEST(Jail, TheScratchIsBoundedAndPrivate) {
  WHET_NEEDS_WALL("mount_namespace");
  auto spec = payload({"fill", "/scratch/x"});
  spec.scratch_bytes = size_t{8} << 20;
  EXPECT_EQ(run(spec).output, "wrote 8 MiB: No space left on device\n");
  EXPECT_FALSE(fs::exists("/scratch/x"));
  EXPECT_THAT(run(payload({"write", "/scratch/x"})).output, HasSubstr("refused"));
}

TEST(Jail, FilesAreBounded) {
  const auto folder = TemporaryDirectory::make().value();
  fs::permissions(folder.path(), fs::perms(0755));
  const std::string path = folder.path().string();
  auto spec = payload({"fill", path + "/x"});
  spec.writable = {{path, path}};
  spec.limits.file_bytes = size_t{3} << 20;
  EXPECT_EQ(run(spec).output, "wrote 3 MiB: File too large\n");
  EXPECT_EQ(fs::file_size(folder.path() / "x"), size_t{3} << 20);
}

TEST(Jail, AReadOnlyBindIsReadOnly) {
  const auto folder = TemporaryDirectory::make().value();
  fs::permissions(folder.path(), fs::perms(0777));
  const std::string path = folder.path().string();
  ASSERT_TRUE(write_file_atomically(folder.path() / "x", "old"));
  fs::permissions(folder.path() / "x", fs::perms(0666));
  auto spec = payload({"write", path + "/x"});
  spec.read_only.push_back({path, path});
  EXPECT_THAT(run(spec).output, HasSubstr("refused"));
  spec.argv[1] = "read";
  EXPECT_THAT(run(spec).output, HasSubstr("DONE"));
  EXPECT_EQ(read_file(folder.path() / "x").value(), "old");
}

TEST(Jail, ASealedMemoryFileStaysReadOnly) {
  const Descriptor file(::memfd_create("input", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  ASSERT_EQ(::ftruncate(file.get(), 4096), 0);
  auto* ours = static_cast<char*>(::mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, file.get(), 0));
  ASSERT_NE(ours, MAP_FAILED);
  ASSERT_EQ(::fcntl(file.get(), F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_FUTURE_WRITE | F_SEAL_SEAL), 0);
  ours[0] = 'o';
  const std::string path = "/proc/self/fd/" + std::to_string(file.get());
  const Descriptor read_only(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  for (const int given : {file.get(), read_only.get()}) {
    for (const char* deed : {"reopen", "protect"}) {
      auto spec = runner({deed, "5"});
      spec.descriptors = {{given, 5}};
      EXPECT_THAT(run(spec).output, HasSubstr("refused")) << deed;
    }
  }
  EXPECT_EQ(ours[0], 'o');
  ::munmap(ours, 4096);
}

// How a runner gets its candidate: no path of the host is needed.
TEST(Jail, ALibraryInAMemoryFileCanBeLoaded) {
  std::string library;
  for (const char* path : {"/lib/x86_64-linux-gnu/libm.so.6", "/lib/aarch64-linux-gnu/libm.so.6", "/lib64/libm.so.6"})
    if (auto contents = read_file(path); contents && library.empty()) library = *std::move(contents);
  if (library.empty()) GTEST_SKIP() << "libm.so.6 is elsewhere on this machine";
  const Descriptor file(::memfd_create("candidate", MFD_CLOEXEC));
  ASSERT_EQ(::write(file.get(), library.data(), library.size()), static_cast<ssize_t>(library.size()));
  auto spec = runner({"load", "5"});
  spec.descriptors = {{file.get(), 5}};
  EXPECT_EQ(run(spec).output, "loaded: 2\n");
}

TEST(Jail, NoDescriptorLeaksIn) {
  const int ours = ::open("/dev/null", O_RDONLY);                             // on purpose without CLOEXEC
  EXPECT_EQ(run(payload({"list", "/proc/self/fd"})).output, "0\n1\n2\n3\n");  // 3 is the listing's own
  ::close(ours);
}

TEST(Jail, MuchOutputKeepsHeadAndTail) {
  auto spec = payload({"much", "20"});
  spec.max_output = 10'000;
  auto jailed = Jailed::start(spec).value();
  ASSERT_TRUE(jailed.wait(30s).value());
  EXPECT_GE(jailed.output_bytes(), size_t{20} << 20);
  EXPECT_LT(jailed.output().size(), 10'200u);
  EXPECT_THAT(jailed.output(), HasSubstr("bytes left out"));
}

TEST(Jail, LossyOutputNeverHoldsThePayload) {
  auto spec = runner({"much", "5"});
  spec.output = JailOutput::lossy;
  auto jailed = Jailed::start(spec).value();
  // Nobody reads until it has ended.
  siginfo_t info{};
  ASSERT_EQ(::waitid(P_PID, static_cast<id_t>(jailed.pid()), &info, WEXITED | WNOWAIT), 0);
  EXPECT_EQ(jailed.poll().value()->code, 0);
  EXPECT_LE(jailed.output_bytes(), 65'536u);
}

TEST(Jail, StaysOnItsCores) {
  cpu_set_t ours;
  ASSERT_EQ(::sched_getaffinity(0, sizeof ours, &ours), 0);
  int core = 0;
  while (!CPU_ISSET(core, &ours)) ++core;
  auto spec = payload({"sleep"});
  spec.cores = {core};
  const auto jailed = Jailed::start(spec).value();
  cpu_set_t inside;
  ASSERT_EQ(::sched_getaffinity(jailed.pid(), sizeof inside, &inside), 0);
  EXPECT_EQ(CPU_COUNT(&inside), 1);
  EXPECT_TRUE(CPU_ISSET(core, &inside));
}

// Memory shared with a payload that counts in it.
class Counters {
 public:
  Counters() : file_(::memfd_create("counters", MFD_CLOEXEC)) {
    EXPECT_EQ(::ftruncate(file_.get(), 4096), 0);
    counters_ =
        static_cast<std::atomic<uint64_t>*>(::mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, file_.get(), 0));
  }
  ~Counters() { ::munmap(counters_, 4096); }
  int file() const { return file_.get(); }
  uint64_t value(int i) const { return counters_[8 * i].load(); }
  bool all_move_on(int threads) const {
    for (int i = 0; i < threads; ++i) {
      const uint64_t before = value(i);
      const auto until = std::chrono::steady_clock::now() + 5s;
      while (value(i) == before)
        if (std::chrono::steady_clock::now() > until) return false;
    }
    return true;
  }

 private:
  Descriptor file_;
  std::atomic<uint64_t>* counters_;
};

TEST(Jail, FreezeStopsEveryThreadAtOnceAndThawLetsThemGo) {
  const Counters counters;
  constexpr int kThreads = 3;
  auto spec = runner({"spin", std::to_string(kThreads)});
  spec.descriptors = {{counters.file(), 5}};
  auto jailed = Jailed::start(spec).value();
  ASSERT_TRUE(counters.all_move_on(kThreads));
  for (int round = 0; round < 20; ++round) {
    ASSERT_TRUE(jailed.freeze());
    uint64_t before[kThreads];
    for (int i = 0; i < kThreads; ++i) before[i] = counters.value(i);
    for (int spin = 0; spin < 1'000'000; ++spin) asm volatile("");
    for (int i = 0; i < kThreads; ++i)
      EXPECT_EQ(counters.value(i), before[i]) << "thread " << i << " runs in a frozen jail";
    ASSERT_TRUE(jailed.thaw());
    ASSERT_TRUE(counters.all_move_on(kThreads));
  }
}

TEST(Jail, GoingOnByItselfWhileFrozenIsNoticed) {
  auto jailed = Jailed::start(payload({"sleep"})).value();
  ASSERT_TRUE(jailed.freeze());
  ASSERT_TRUE(jailed.thaw());
  ASSERT_TRUE(jailed.freeze());
  ::kill(jailed.pid(), SIGCONT);  // what a timer of the payload would do
  EXPECT_THAT(jailed.thaw().error().what, HasSubstr("went on by itself"));
  ASSERT_TRUE(jailed.freeze());
  EXPECT_TRUE(jailed.thaw());
}

TEST(Jail, FreezingWhatEndedSaysSo) {
  auto jailed = Jailed::start(payload({"exit", "3"})).value();
  ASSERT_TRUE(jailed.wait(10s).value());
  EXPECT_THAT(jailed.freeze().error().what, HasSubstr("ended"));
  auto other = Jailed::start(payload({"sleep"})).value();
  ASSERT_TRUE(other.freeze());
  ::kill(other.pid(), SIGKILL);
  ASSERT_TRUE(other.wait(10s).value());
  EXPECT_FALSE(other.thaw());
}

TEST(Jail, KillLeavesNothing) {
  auto jailed = Jailed::start(payload({"sleep"})).value();
  const pid_t pid = jailed.pid();
  EXPECT_FALSE(jailed.wait(20ms).value());
  EXPECT_GT(jailed.memory_bytes(), 0u);
  EXPECT_EQ(jailed.task_count(), 1u);
  jailed.kill();
  EXPECT_EQ(::kill(pid, 0), -1);
  EXPECT_TRUE(jailed.poll().value()->killed_by_us);
  EXPECT_EQ(jailed.task_count(), 0u);
}

TEST(Jail, AKillFromOutsideIsToldFromWhatThePayloadDid) {
  WHET_NEEDS_WALL("pid_namespace");
  auto jailed = Jailed::start(payload({"sleep"})).value();
  ::kill(jailed.pid(), SIGKILL);
  const auto exit = jailed.wait(10s).value();
  ASSERT_TRUE(exit);
  EXPECT_TRUE(exit->killed_from_outside);
  EXPECT_EQ(exit->sentence, "was killed from outside (by somebody, or by a machine out of memory)");
  EXPECT_EQ(run(payload({"kill", "1"})).exit.code, 0) << "process 1 cannot make it look like that";
  EXPECT_FALSE(run(runner({"crash"})).exit.killed_from_outside);
}

std::vector<std::string> groups_of(pid_t owner) {
  std::vector<std::string> names;
  const std::string mine = fmt::format("whet-{}-", owner);
  for (const auto* place : {&Cgroup::memory_place(), &Cgroup::pids_place()}) {
    if (place->folder.empty()) continue;
    for (const auto& entry : fs::directory_iterator(place->folder))
      if (entry.path().filename().string().starts_with(mine)) names.push_back(entry.path());
  }
  return names;
}
std::vector<std::string> our_groups() { return groups_of(::getpid()); }

TEST(Jail, LeavesNoGroupAndNoMount) {
  const std::string mounts = read_file("/proc/self/mounts").value();
  {
    auto spec = payload({"sleep"});
    spec.scratch_bytes = 1 << 20;
    const auto jailed = Jailed::start(spec).value();
    EXPECT_EQ(our_groups().empty(), !stands("cgroup_memory") && !stands("cgroup_pids"));
  }
  EXPECT_THAT(our_groups(), testing::IsEmpty());
  EXPECT_EQ(read_file("/proc/self/mounts").value(), mounts);
}

TEST(Jail, DiesWithItsParent) {
  int ends[2];
  ASSERT_EQ(::pipe2(ends, O_CLOEXEC), 0);
  const pid_t parent = ::fork();
  if (parent == 0) {
    auto jailed = Jailed::start(payload({"sleep"}));
    const pid_t pid = jailed ? jailed->pid() : -1;
    if (::write(ends[1], &pid, sizeof pid) != sizeof pid) ::_exit(1);
    for (;;) ::pause();
  }
  pid_t payload_pid = -1;
  ASSERT_EQ(::read(ends[0], &payload_pid, sizeof payload_pid), static_cast<ssize_t>(sizeof payload_pid));
  ASSERT_GT(payload_pid, 0);
  ASSERT_EQ(::kill(payload_pid, 0), 0);
  ::kill(parent, SIGKILL);
  ::waitpid(parent, nullptr, 0);
  // It is now somebody else's to reap; dead is enough.
  auto lives = [&] {
    const auto stat = read_file(fmt::format("/proc/{}/stat", payload_pid));
    return stat && stat->at(stat->rfind(')') + 2) != 'Z';
  };
  const auto until = std::chrono::steady_clock::now() + 5s;
  while (lives() && std::chrono::steady_clock::now() < until) std::this_thread::yield();
  EXPECT_FALSE(lives());
  ::close(ends[0]);
  ::close(ends[1]);
}

// Between clone and exec there are moments at which the kernel would not tell the child of its parent's death.
TEST(Jail, DiesWithAParentThatIsKilledWhileItStarts) {
  ASSERT_EQ(::prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0), 0);  // what is left behind becomes our child
  for (int moment = 0; moment < 100; ++moment) {
    const pid_t parent = ::fork();
    if (parent == 0) {
      std::vector<Expected<Jailed>> jails;
      for (;;) jails.push_back(Jailed::start(payload({"sleep"})));
    }
    ::usleep(static_cast<useconds_t>(100 * moment));
    ::kill(parent, SIGKILL);
    pid_t ended = 0;
    for (int looks = 0; looks < 25'000 && (ended = ::waitpid(-1, nullptr, WNOHANG)) >= 0; ++looks)
      if (ended == 0) ::usleep(200);
    ASSERT_EQ(ended, -1) << "killed after " << 100 * moment << " us, it left a process behind";
    for (const std::string& group : groups_of(parent)) ::rmdir(group.c_str());  // as the next program with a jail would
  }
  ::prctl(PR_SET_CHILD_SUBREAPER, 0, 0, 0, 0);
}

TEST(Jail, BadSpecsAreNamed) {
  auto spec = payload({"hello"});
  spec.read_only.push_back({"/no/such/folder", "/x"});
  EXPECT_THAT(Jailed::start(spec).error().what, HasSubstr("/no/such/folder"));
  spec = payload({"hello"});
  spec.read_only.push_back({"/usr", "/a/../b"});
  EXPECT_THAT(Jailed::start(spec).error().what, HasSubstr("/a/../b"));
  spec = payload({"hello"});
  spec.descriptors = {{0, 5}, {1, 5}};
  EXPECT_THAT(Jailed::start(spec).error().what, HasSubstr("each once"));
  spec = payload({"hello"});
  spec.argv[0] = "sandbox_payload";
  EXPECT_THAT(Jailed::start(spec).error().what, HasSubstr("absolute"));
}

}  // namespace
}  // namespace whet
