// SPDX-License-Identifier: Apache-2.0
#include "wire/ssh.h"

#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <string_view>

#include "base/hash.h"
#include "base/process.h"

namespace whet {
namespace {

using std::chrono::milliseconds;
using Clock = std::chrono::steady_clock;

constexpr int kConnectSeconds = 10;
// After it is connected: a login shell that starts slowly, and the SHA-256 of the program over there.
constexpr milliseconds kGreetingWithin{60'000};
constexpr milliseconds kSentWithin{600'000};
constexpr std::size_t kGreetingMost = 2000;
constexpr int kSshFailed = 255;

// These go before the user's configuration: whoever reads our pipe answers no question, and forwards and ttys of an interactive session are in the way.
const char* const kOptions[] = {"BatchMode=yes",       "ServerAliveInterval=5", "ServerAliveCountMax=3", "RequestTTY=no",      "ControlMaster=no",
                                "RemoteCommand=none", "ClearAllForwardings=yes", "ForwardAgent=no",      "ForwardX11=no"};

Expected<std::string> in_path(const std::string& program, const std::map<std::string, std::string>& environment) {
  if (program.find('/') != std::string::npos) return program;
  const auto found = environment.find("PATH");
  std::string_view path = found == environment.end() ? "/usr/bin:/bin" : std::string_view(found->second);
  while (!path.empty()) {
    const auto colon = std::min(path.find(':'), path.size());
    const std::string file = std::string(path.substr(0, colon)) + "/" + program;
    if (colon > 0 && access(file.c_str(), X_OK) == 0) return file;
    path.remove_prefix(std::min(colon + 1, path.size()));
  }
  return bad_input("the program '{}' is not in the search path; install it (openssh-client), or name another with WHET_SSH", program);
}

std::string trimmed(std::string text) {
  while (!text.empty() && (text.back() == '\n' || text.back() == '\r' || text.back() == ' ')) text.pop_back();
  return text;
}

// The last line of it that has one of these words, else nothing.
std::string line_with(const std::string& text, std::initializer_list<std::string_view> words) {
  for (std::size_t end = text.size(); end != std::string::npos && end > 0;) {
    const std::size_t feed = text.rfind('\n', end - 1);
    const std::size_t begin = feed == std::string::npos ? 0 : feed + 1;
    const std::string line = trimmed(text.substr(begin, end - begin));
    if (std::ranges::any_of(words, [&](std::string_view word) { return line.find(word) != std::string::npos; })) return line;
    end = feed;
  }
  return "";
}

bool has(const std::string& text, std::string_view word) { return text.find(word) != std::string::npos; }

// The first line that comes, a byte at a time: what follows it is the protocol's. Ends without a line feed at the end of the output or of the time.
std::string read_line(WorkerProcess& process, std::string& said) {
  const auto until = Clock::now() + milliseconds(kConnectSeconds * 1000) + kGreetingWithin;
  std::string line;
  bool open = true;
  while (open && !line.ends_with('\n') && line.size() < kGreetingMost) {
    const auto left = std::chrono::ceil<milliseconds>(until - Clock::now()).count();
    if (left <= 0) break;
    pollfd ready[2] = {{process.out.get(), POLLIN, 0}, {process.err.get(), POLLIN, 0}};
    if (poll(ready, 2, static_cast<int>(left)) < 0 && errno != EINTR) break;
    char text[4096];
    ssize_t got = ready[1].revents ? read(process.err.get(), text, sizeof text) : -1;
    if (got > 0) said.append(text, static_cast<std::size_t>(got));
    if (got == 0) process.err.reset();
    if (!ready[0].revents) continue;
    char byte;
    got = read(process.out.get(), &byte, 1);
    if (got == 1) line += byte;
    open = got != 0;
  }
  return line;
}

void read_rest(WorkerProcess& process, std::string& said) {
  char text[4096];
  ssize_t got;
  while (process.err && (got = read(process.err.get(), text, sizeof text)) > 0) said.append(text, static_cast<std::size_t>(got));
  if (said.size() > 4000) said.erase(0, said.size() - 4000);
}

std::string megabytes(uint64_t bytes) { return fmt::format("{:.1f} MB", static_cast<double>(bytes) / 1e6); }

}  // namespace

Expected<SshWorker> SshWorker::make(const WorkerAddress& address, SshOptions options) {
  SshWorker worker;
  worker.address_ = address;
  worker.options_ = std::move(options);
  WHET_TRY_IN("worker " + address.text(), worker.options_.program.front(), in_path(worker.options_.program.front(), worker.options_.environment));
  auto contents = read_file(worker.options_.worker_file);
  if (!contents)
    return bad_input("worker {}: the program that is to run there cannot be read: {}; build it with `make portable`", address.text(), contents.error().what);
  worker.contents_ = *std::move(contents);
  worker.program_ = {.folder = address.folder, .hash = sha256_hex(worker.contents_), .bytes = worker.contents_.size()};
  return worker;
}

std::vector<std::string> SshWorker::argv(const std::string& command) const {
  std::vector<std::string> words = options_.program;
  const auto option = [&](const std::string& text) { words.insert(words.end(), {"-o", text}); };
  for (const char* text : kOptions) option(text);
  option(fmt::format("ConnectTimeout={}", kConnectSeconds));
  if (!address_.user.empty()) option("User=" + address_.user);
  if (address_.port) option(fmt::format("Port={}", address_.port));
  words.insert(words.end(), {"--", address_.host, command});
  return words;
}

Expected<WorkerProcess> SshWorker::start() {
  std::string greeting;
  WHET_TRY(WorkerProcess process, start_once(greeting));
  if (greeting == kFarStarts) return process;
  process.wait_for_end(milliseconds(0));
  WHET_OK(send());
  WHET_TRY(WorkerProcess again, start_once(greeting));
  if (greeting == kFarStarts) return again;
  return machine_failed("worker {}: the program was sent there and is missing again at once; does somebody else clean that folder? ssh://HOST/FOLDER names another",
                        address_.text());
}

Expected<WorkerProcess> SshWorker::start_once(std::string& greeting) {
  WHET_TRY_IN("worker " + address_.text(), WorkerProcess process, WorkerProcess::start(argv(far_start(program_, options_.arguments)), options_.environment));
  std::string said;
  const std::string line = read_line(process, said);
  greeting = trimmed(line);
  if (line.ends_with('\n') && (greeting == kFarStarts || greeting == kFarMissing)) return process;
  // It has ended, or is of no use.
  const bool ended = !process.wait_for_end(milliseconds(line.empty() ? 1000 : 100)).empty();
  read_rest(process, said);
  if (!line.empty())
    return machine_failed(
        "worker {}: something there writes to standard output before the worker does, which breaks the protocol; found '{}'. Have ~/.bashrc and the like on that "
        "machine write to standard error, or in interactive shells only{}",
        address_.text(), greeting.substr(0, 200), said.empty() ? "" : "; the end of its stderr: " + trimmed(said));
  if (!ended)
    return machine_failed("worker {}: nothing came from it within {} s; the end of its stderr: {}", address_.text(),
                          kConnectSeconds + kGreetingWithin.count() / 1000, trimmed(said));
  return std::unexpected(explained(process.exit_code(), trimmed(said)));
}

Status SshWorker::send() {
  if (options_.notice) options_.notice(fmt::format("sending the worker ({}) to {}, once for this build of it", megabytes(program_.bytes), address_.text()));
  ProcessSpec spec{.argv = argv(far_receive(program_)), .environment = options_.environment, .stdin_text = contents_, .deadline = kSentWithin};
  WHET_TRY_IN("worker " + address_.text(), const ProcessResult result, run_process(spec));
  if (result.ok() && trimmed(result.out) == kFarArrived) return {};
  if (result.exit_code == kSshFailed) return std::unexpected(explained(kSshFailed, trimmed(result.err)));
  return machine_failed("worker {}: its program could not be put there{}: {}; ssh://HOST/FOLDER names another folder", address_.text(),
                        result.timed_out ? fmt::format(" within {} s", kSentWithin.count() / 1000) : "", trimmed(result.err + result.out));
}

Error SshWorker::explained(int exit_code, const std::string& said) const {
  const std::string name = (address_.user.empty() ? "" : address_.user + "@") + address_.host;
  const std::string by_hand = fmt::format("{}{} {}", fmt::join(options_.program, " "), address_.port ? fmt::format(" -p {}", address_.port) : "", name);
  const auto error = [&](const std::string& what) { return Error{fmt::format("worker {}: {}", address_.text(), what), Blame::machine}; };
  if (exit_code == kSshFailed) {
    if (has(said, "IDENTIFICATION HAS CHANGED"))
      return error(fmt::format("{} has another host key than the one that is known for it; ask who runs it before you trust the new one (ssh-keygen -R removes the old)", name));
    if (has(said, "Host key verification failed"))
      return error(fmt::format("the host key of {} is not known; connect once by hand and compare it: {}", name, by_hand));
    if (const std::string line = line_with(said, {"Permission denied", "Too many authentication failures", "No supported authentication methods"}); !line.empty())
      return error(fmt::format("{} refuses the login without a password ({}); set up a key, until this works: {} -o BatchMode=yes", name, line, by_hand));
    if (const std::string line = line_with(said, {"Could not resolve", "Connection refused", "timed out", "No route to host", "unreachable"}); !line.empty())
      return error(fmt::format("{} cannot be reached ({}); look at the name, the port and the network", name, line));
  }
  return error(fmt::format("ssh ended with code {} before the worker spoke; {}; try by hand: {}", exit_code,
                           said.empty() ? "it wrote nothing to stderr" : "the end of its stderr: " + said, by_hand));
}

std::string SshWorker::remedy(const std::string& said) {
  if (has(said, "error while loading shared libraries") || has(said, "version `GLIBCXX") || has(said, "version `CXXABI"))
    return "; that machine lacks libraries: `make portable` builds a worker that needs none of them (build/portable/bin)";
  if (has(said, "version `GLIBC_")) return "; that machine's glibc is older than the one that the worker was built with: build on the older system";
  if (has(said, "Exec format error") || has(said, "cannot execute binary file")) return "; that machine is of another kind than the one that the worker was built for";
  if (has(said, "whet-worker-") && has(said, "Permission denied"))
    return "; programs may not be run from that folder (a mount with noexec?): ssh://HOST/FOLDER names another";
  return "";
}

std::string ending_over_ssh(const WorkerProcess& ssh, const std::string& ending) {
  const int code = ssh.exit_code();
  if (code == kSshFailed) return "was lost with its connection";
  if (code > 128 && code < 128 + 65) return fmt::format("was killed there by signal {} ({})", code - 128, strsignal(code - 128));
  if (code >= 0) return fmt::format("exited there with code {}", code);
  return "was lost with the ssh here, which " + ending;
}

}  // namespace whet
