// SPDX-License-Identifier: Apache-2.0
#include "truth/runner/conversation.h"

#include <linux/futex.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>

namespace whet::runner {
namespace {

constexpr uint64_t kPage = 4096;

void futex_wake(std::atomic<uint32_t>& word) {
  syscall(SYS_futex, reinterpret_cast<uint32_t*>(&word), FUTEX_WAKE, 1, nullptr, nullptr, 0);
}

}  // namespace

bool receive(Received& received) {
  static std::vector<char> buffer(1 << 20);
  alignas(cmsghdr) static char control[CMSG_SPACE(sizeof(int) * 250)];
  iovec piece = {buffer.data(), buffer.size()};
  msghdr message = {};
  message.msg_iov = &piece;
  message.msg_iovlen = 1;
  message.msg_control = control;
  message.msg_controllen = sizeof control;
  ssize_t got;
  do {
    got = recvmsg(kSocket, &message, MSG_CMSG_CLOEXEC);
  } while (got < 0 && errno == EINTR);
  if (got < static_cast<ssize_t>(sizeof(Request))) return false;
  std::memcpy(&received.request, buffer.data(), sizeof(Request));
  received.payload.assign(buffer.data() + sizeof(Request), static_cast<size_t>(got) - sizeof(Request));
  received.descriptors.clear();
  for (cmsghdr* part = CMSG_FIRSTHDR(&message); part; part = CMSG_NXTHDR(&message, part)) {
    if (part->cmsg_level != SOL_SOCKET || part->cmsg_type != SCM_RIGHTS) continue;
    const size_t count = (part->cmsg_len - CMSG_LEN(0)) / sizeof(int);
    const size_t old = received.descriptors.size();
    received.descriptors.resize(old + count);
    std::memcpy(received.descriptors.data() + old, CMSG_DATA(part), count * sizeof(int));
  }
  return true;
}

bool send_reply(const Reply& reply) { return send(kSocket, &reply, sizeof reply, MSG_NOSIGNAL) == sizeof reply; }

Reply failed(Code code, const std::string& message) {
  Reply reply;
  reply.code = static_cast<int>(code);
  std::snprintf(reply.message, sizeof reply.message, "%s", message.c_str());
  return reply;
}

Bell* attach_bell() {
  Received received;
  if (!receive(received) || received.descriptors.size() != 1) return nullptr;
  void* page = mmap(nullptr, kPage, PROT_READ | PROT_WRITE, MAP_SHARED, received.descriptors[0], 0);
  close(received.descriptors[0]);
  return page == MAP_FAILED ? nullptr : static_cast<Bell*>(page);
}

void await_go(Bell& bell, uint32_t sequence) {
  bell.armed.store(sequence, std::memory_order_release);
  futex_wake(bell.armed);
  // Ready at once when the word comes, and yet out of the way of the worker, who may need this core to say it.
  for (uint32_t looks = 1; bell.go.load(std::memory_order_acquire) != sequence; ++looks) {
#if defined(__x86_64__)
    __builtin_ia32_pause();
#endif
    if (looks % 64 == 0) sched_yield();
  }
  // The worker needs a moment to get off the core on which it said so; until then the scheduler would put a thread that we wake behind us.
  const uint64_t start = bell.start_ns.load(std::memory_order_relaxed);
  timespec now;
  do {
    clock_gettime(CLOCK_MONOTONIC, &now);
  } while (static_cast<uint64_t>(now.tv_sec) * 1000000000u + static_cast<uint64_t>(now.tv_nsec) < start);
}

void say_done(Bell& bell, uint32_t sequence) {
  bell.done.store(sequence, std::memory_order_release);
  futex_wake(bell.done);
}

void await_look(Bell& bell, uint32_t sequence) {
  constexpr int kLooks = 5000;
  bell.held.store(sequence, std::memory_order_release);
  futex_wake(bell.held);
  const timespec pause = {0, 100000};
  for (int i = 0; i < kLooks && bell.let_go.load(std::memory_order_acquire) != sequence; ++i) nanosleep(&pause, nullptr);
}

void install_fault_handler(void (*handler)(int, siginfo_t*, void*)) {
  static char stack[64 * 1024];
  stack_t alternate = {};
  alternate.ss_sp = stack;
  alternate.ss_size = sizeof stack;
  sigaltstack(&alternate, nullptr);
  struct sigaction action = {};
  action.sa_sigaction = handler;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_RESETHAND;
  for (int number : {SIGSEGV, SIGBUS, SIGFPE, SIGILL}) sigaction(number, &action, nullptr);
}

}  // namespace whet::runner
