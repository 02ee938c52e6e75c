// SPDX-License-Identifier: Apache-2.0
// What a hostile or unlucky program does in a jail, one deed per name; the tests of the jail start it. Prints what happened: "refused: ..." or
// "DONE: ..." (which for most deeds means that a wall has a hole), exit code 0 either way.
//   sandbox_payload [--runner] DEED [WORD]
//   sandbox_payload --poorer namespaces|root PROGRAM [WORD...]   runs the tests as on a machine that grants less
#include <dlfcn.h>
#include <fcntl.h>
#include <linux/sched.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <functional>
#include <map>
#include <string>
#include <thread>
#include <vector>

#include "sandbox/filter.h"
#include "sandbox/runner_filter.h"

namespace {

namespace fs = std::filesystem;

int tell(bool done, const char* deed) {
  if (done) std::printf("DONE: %s\n", deed);
  else std::printf("refused: %s: %s\n", deed, std::strerror(errno));
  std::fflush(stdout);
  return 0;
}

int write_to(const char* path) { return tell(::open(path, O_WRONLY | O_CREAT, 0600) >= 0, path); }
int read_from(const char* path) { return tell(::open(path, O_RDONLY) >= 0, path); }

int list(const char* path) {
  std::error_code code;
  for (const auto& entry : fs::directory_iterator(path, code)) std::printf("%s\n", entry.path().filename().c_str());
  if (code) std::printf("refused: %s\n", code.message().c_str());
  return 0;
}

int fork_bomb(int wanted) {
  int made = 0;
  for (; made < wanted; ++made) {
    const pid_t pid = ::fork();
    if (pid == 0) {
      ::pause();
      ::_exit(0);
    }
    if (pid < 0) break;
  }
  std::printf("forked %d of %d: %s\n", made, wanted, std::strerror(errno));
  return 0;
}

int touch_memory(size_t bytes) {
  auto* memory = static_cast<char*>(::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  if (memory == MAP_FAILED) return tell(false, "map memory");
  for (size_t at = 0; at < bytes; at += 4096) memory[at] = 1;
  return tell(true, "touch memory");
}

int fill_disk(const char* path) {
  const int file = ::open(path, O_WRONLY | O_CREAT, 0600);
  if (file < 0) return tell(false, "open a file");
  ::signal(SIGXFSZ, SIG_IGN);
  const std::vector<char> block(1 << 20, 'x');
  size_t written = 0;
  for (int i = 0; i < 4096; ++i) {
    const ssize_t put = ::write(file, block.data(), block.size());
    if (put <= 0) break;
    written += static_cast<size_t>(put);
  }
  std::printf("wrote %zu MiB: %s\n", written >> 20, std::strerror(errno));
  return 0;
}

// Counts in memory shared with the test (descriptor 5), on `threads` threads, for ever.
int spin(int threads) {
  auto* counters = static_cast<std::atomic<uint64_t>*>(::mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, 5, 0));
  if (counters == MAP_FAILED) return tell(false, "map descriptor 5");
  std::vector<std::thread> others;
  for (int i = 0; i < threads; ++i)
    others.emplace_back([counters, i] {
      for (;;) counters[8 * i].fetch_add(1, std::memory_order_relaxed);
    });
  std::printf("spinning\n");
  std::fflush(stdout);
  for (auto& other : others) other.join();
  return 0;
}

int reopen_for_writing(int number) {
  const std::string path = "/proc/self/fd/" + std::to_string(number);
  const int again = ::open(path.c_str(), O_RDWR);
  if (again < 0) return tell(false, "reopen for writing");
  void* memory = ::mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, again, 0);
  if (memory == MAP_FAILED) return tell(false, "map the reopened file for writing");
  *static_cast<char*>(memory) = 'x';
  return tell(true, "write to a read-only file");
}

int map_then_protect(int number) {
  void* memory = ::mmap(nullptr, 4096, PROT_READ, MAP_SHARED, number, 0);
  if (memory == MAP_FAILED) return tell(false, "map read-only");
  return tell(::mprotect(memory, 4096, PROT_READ | PROT_WRITE) == 0, "mprotect to writable");
}

int load_library(int number) {
  void* library = ::dlopen(("/proc/self/fd/" + std::to_string(number)).c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) return std::printf("refused: %s\n", ::dlerror()), 0;
  auto* square_root = reinterpret_cast<double (*)(double)>(::dlsym(library, "sqrt"));
  return std::printf("loaded: %g\n", square_root == nullptr ? -1 : square_root(4)), 0;
}

// Asks a timer to wake the process while it is frozen.
int wake_by_timer() {
  sigevent event{};
  event.sigev_notify = SIGEV_SIGNAL;
  event.sigev_signo = SIGCONT;
  timer_t timer;
  return tell(::timer_create(CLOCK_MONOTONIC, &event, &timer) == 0, "timer_create");
}

int sleep_for_ever() {
  std::printf("sleeping\n");
  std::fflush(stdout);
  for (;;) ::pause();
}

int many_threads(int wanted) {
  int made = 0;
  for (; made < wanted; ++made) {
    pthread_t thread;
    auto body = +[](void*) -> void* {
      for (;;) ::pause();
    };
    if (::pthread_create(&thread, nullptr, body, nullptr) != 0) break;
  }
  std::printf("started %d threads of %d\n", made, wanted);
  return 0;
}

int write_much(size_t bytes) {
  const std::string line(99, 'y');
  for (size_t done = 0; done < bytes; done += 100) std::printf("%s\n", line.c_str());
  return 0;
}

// Process 1 of a pid namespace outlives what it raises. Not the null pointer, which a sanitizer would see coming.
int crash() {
  const volatile uintptr_t nowhere = 64;
  return ::raise(SIGSEGV), *reinterpret_cast<volatile char*>(nowhere);
}

int new_namespace() { return tell(::unshare(CLONE_NEWUSER) == 0, "unshare"); }

// Not through glibc, which would ask clone3 first.
int plain_fork() { return tell(::fork() >= 0, "fork"); }

int start_program() {
  const char* const words[] = {"/bin/true", nullptr};
  ::execv(words[0], const_cast<char* const*>(words));
  return tell(false, "execv");
}

// Takes away what a container or a user account would not have: namespaces and mounts, or being root.
int run_poorer(const std::string& lost, char** words) {
  if (lost == "namespaces") {
    const auto filter = whet::start_filter(whet::SyscallProfile::build);
    if (!filter) return std::printf("%s\n", filter.error().what.c_str()), 3;
    const sock_fprog program{static_cast<unsigned short>(filter->size()), const_cast<sock_filter*>(filter->data())};
    if (::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 || ::prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0)
      return tell(false, "seccomp"), 3;
  } else if (::geteuid() == 0 && (::setgid(4242) != 0 || ::setuid(4242) != 0)) {
    return tell(false, "setuid"), 3;
  }
  ::execv(words[0], words);
  return tell(false, words[0]), 3;
}

int deed(const std::string& name, const char* word) {
  const int number = word != nullptr ? std::atoi(word) : 0;
  const std::map<std::string, std::function<int()>> deeds = {
      {"hello",
       [] {
         return std::printf("hello from %d as %d in %s\n", ::getpid(), ::getuid(), fs::current_path().c_str()), 0;
       }},
      {"exit", [=] { return number; }},
      {"abort", [] { return std::abort(), 0; }},
      {"crash", crash},
      {"environment", [] { return std::printf("%s\n", ::environ[0] == nullptr ? "(empty)" : ::environ[0]), 0; }},
      {"write", [=] { return write_to(word); }},
      {"read", [=] { return read_from(word); }},
      {"list", [=] { return list(word); }},
      {"socket", [] { return tell(::socket(AF_INET, SOCK_STREAM, 0) >= 0, "socket"); }},
      {"ptrace", [] { return tell(::ptrace(PTRACE_TRACEME, 0, nullptr, nullptr) == 0, "ptrace"); }},
      {"kill", [=] { return tell(::kill(number, SIGKILL) == 0, "kill"); }},
      {"fork", plain_fork},
      {"fork-bomb", [=] { return fork_bomb(number); }},
      {"threads", [=] { return many_threads(number); }},
      {"exec", start_program},
      {"touch", [=] { return touch_memory(static_cast<size_t>(number) << 20); }},
      {"fill", [=] { return fill_disk(word); }},
      {"setuid", [] { return tell(::setuid(0) == 0, "setuid"); }},
      {"mount", [] { return tell(::mount("x", "/usr", "tmpfs", 0, nullptr) == 0, "mount"); }},
      {"unshare", new_namespace},
      {"spin", [=] { return spin(number); }},
      {"reopen", [=] { return reopen_for_writing(number); }},
      {"protect", [=] { return map_then_protect(number); }},
      {"load", [=] { return load_library(number); }},
      {"timer", wake_by_timer},
      {"sleep", sleep_for_ever},
      {"much", [=] { return write_much(static_cast<size_t>(number) << 20); }},
      {"raise-nproc",
       [] {
         rlimit limit{1000, 1000};
         return tell(::setrlimit(RLIMIT_NPROC, &limit) == 0, "setrlimit");
       }},
  };
  const auto found = deeds.find(name);
  if (found == deeds.end()) return std::printf("no such deed: %s\n", name.c_str()), 2;
  return found->second();
}

}  // namespace

#ifdef WHET_SANITIZED
// The leak check at exit clones and traces, which the filter forbids. A crash ends the program as it would without a sanitizer.
extern "C" const char* __asan_default_options() { return "detect_leaks=0:handle_segv=0"; }
extern "C" const char* __tsan_default_options() { return "handle_segv=0"; }
#endif

int main(int count, char** words) {
  int at = 1;
  if (count > 3 && std::strcmp(words[1], "--poorer") == 0) return run_poorer(words[2], words + 3);
  if (at < count && std::strcmp(words[at], "--runner") == 0) {
    ++at;
    if (const auto entered = whet::enter_runner_filter(); !entered)
      return std::printf("%s\n", entered.error().what.c_str()), 3;
  }
  if (at >= count) return 2;
  return deed(words[at], at + 1 < count ? words[at + 1] : nullptr);
}
