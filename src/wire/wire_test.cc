// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <future>
#include <thread>

#include "base/hash.h"
#include "base/json_impl.h"
#include "wire/blobs.h"
#include "wire/client.h"
#include "wire/server.h"

namespace whet {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using namespace std::chrono_literals;

// This program started again with WHET_WIRE_TEST set is the worker of these tests.
Expected<Json> echo(const Json& params, CallContext&) { return params; }

Expected<Json> count_up(const Json& params, CallContext& context) {
  for (int i = 0; i < params["n"].get<int>(); ++i) context.progress({{"i", i}});
  return Json(params["n"]);
}

Expected<Json> until_cancelled(const Json&, CallContext& context) {
  context.progress({{"begun", true}});
  while (!context.cancelled()) std::this_thread::sleep_for(100us);
  return Json("cancelled");
}

void answer_for_ever() {
  Server server;
  std::map<std::string, std::string> blobs;
  std::string partial;
  server.handle("hello", echo);
  server.handle("count_up", count_up);
  server.handle("until_cancelled", until_cancelled);
  server.handle("fail", [](const Json& params, CallContext&) -> Expected<Json> {
    if (params.value("whose", "") == "input") return bad_input("w.toml: no such workload");
    return machine_failed("no space left");
  });
  server.handle("throw", [](const Json&, CallContext&) -> Expected<Json> { throw std::runtime_error("a mistake"); });
  server.handle("die", [](const Json& params, CallContext&) -> Expected<Json> {
    fprintf(stderr, "I am about to die\n");
    if (params.contains("exit")) _exit(params["exit"].get<int>());
    kill(getpid(), SIGKILL);
    return Json();
  });
  server.handle("garbage", [](const Json&, CallContext&) -> Expected<Json> {
    [[maybe_unused]] auto n = write(1, "Segmentation fault\n", 19);
    return Json();
  });
  server.handle("noise", [](const Json&, CallContext&) -> Expected<Json> {
    std::string noise(1 << 20, 'x');
    [[maybe_unused]] auto n = write(2, noise.data(), noise.size());
    return Json("quiet");
  });
  server.handle("facts", [](const Json&, CallContext&) -> Expected<Json> {
    int signal = 0;
    prctl(PR_GET_PDEATHSIG, &signal);
    int open = 0;
    for (int fd = 3; fd < 200; ++fd) open += fcntl(fd, F_GETFD) >= 0;
    Json environment = Json::array();
    for (char** variable = environ; *variable; ++variable) environment.push_back(*variable);
    return Json{{"group", getpgid(0)}, {"pid", getpid()}, {"parent_death", signal}, {"open", open}, {"environment", environment}};
  });
  server.handle("blob.have", [&](const Json& params, CallContext&) -> Expected<Json> {
    Json missing = Json::array();
    for (const Json& hash : params["hashes"])
      if (!blobs.contains(hash.get<std::string>())) missing.push_back(hash);
    return Json{{"missing", missing}};
  });
  server.handle("blob.put", [&](const Json& params, CallContext&) -> Expected<Json> {
    WHET_TRY(std::string piece, from_base64(params["base64"].get<std::string>()));
    partial += piece;
    if (!params["last"].get<bool>()) return Json();
    if (sha256_hex(partial) != params["hash"].get<std::string>()) return bad_input("not its hash");
    blobs[params["hash"].get<std::string>()] = std::move(partial);
    partial.clear();
    return Json();
  });
  (void)server.run(0, 1);
}

__attribute__((constructor)) void be_the_worker() {
  if (!getenv("WHET_WIRE_TEST")) return;
  answer_for_ever();
  _exit(0);
}

std::string own_path() {
  std::string path(4096, '\0');
  path.resize(static_cast<std::size_t>(readlink("/proc/self/exe", path.data(), path.size())));
  return path;
}

std::unique_ptr<WorkerClient> worker() {
  auto client = open_worker({.where = {.program = own_path()}, .environment = {{"WHET_WIRE_TEST", "1"}}});
  EXPECT_TRUE(client) << client.error().what;
  return client ? std::move(*client) : nullptr;
}

TEST(Worker, AnswersAndEchoes) {
  auto client = worker();
  Json params = {{"text", "naïve\nline"}, {"n", 3}};
  EXPECT_EQ(client->call("hello", params).value(), params);
  EXPECT_GT(client->process_id(), 0);
}

TEST(Worker, HelloTakesLessThanAFifthOfAMillisecond) {
  auto client = worker();
  std::vector<double> times;
  for (int i = 0; i < 300; ++i) {
    auto begin = std::chrono::steady_clock::now();
    ASSERT_TRUE(client->call("hello", Json::object()));
    times.push_back(std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - begin).count());
  }
  std::sort(times.begin(), times.end());
  fmt::print("round trip: median {:.0f} us, 95 % {:.0f} us\n", times[150], times[285]);
#ifndef WHET_SANITIZED
  EXPECT_LT(times[30], 200);  // a low quantile: other programs share the machine
#endif
}

TEST(Worker, ProgressComesInOrderBeforeTheAnswer) {
  auto client = worker();
  int next = 0;
  auto answer = client->call("count_up", {{"n", 20000}}, [&](const Json& json) { EXPECT_EQ(json["i"], next++); });
  EXPECT_EQ(answer.value(), 20000);
  EXPECT_EQ(next, 20000);
  EXPECT_EQ(client->call("count_up", {{"n", 5}}).value(), 5);  // nobody listens
}

TEST(Worker, BigMessagesBothWays) {
  auto client = worker();
  Json params = {{"text", std::string(20 << 20, 'x')}};
  EXPECT_TRUE(client->call("hello", params).value() == params);
}

TEST(Worker, CancelReachesARunningHandler) {
  auto client = worker();
  client->cancel();  // nothing under way
  EXPECT_TRUE(client->call("hello", Json::object()));
  for (int i = 0; i < 20; ++i)  // from the progress callback
    EXPECT_EQ(client->call("until_cancelled", Json::object(), [&](const Json&) { client->cancel(); }).value(), "cancelled");
  for (int i = 0; i < 20; ++i) {  // from another thread
    std::atomic<bool> begun{false};
    std::thread other([&] {
      while (!begun) std::this_thread::yield();
      client->cancel();
    });
    EXPECT_EQ(client->call("until_cancelled", Json::object(), [&](const Json&) { begun = true; }).value(), "cancelled");
    other.join();
  }
  EXPECT_TRUE(client->call("hello", Json::object()));
}

TEST(Worker, ErrorsSayWhoseTheyAre) {
  auto client = worker();
  auto input = client->call("fail", {{"whose", "input"}});
  EXPECT_EQ(input.error().what, "w.toml: no such workload");
  EXPECT_EQ(input.error().blame, Blame::input);
  auto machine = client->call("fail", Json::object());
  EXPECT_EQ(machine.error().what, "no space left");
  EXPECT_EQ(machine.error().blame, Blame::machine);
  EXPECT_EQ(client->call("throw", Json::object()).error().what, "worker: throw: error -32603: throw: a mistake");
  EXPECT_EQ(client->call("nothing", Json::object()).error().what, "worker: nothing: error -32601: unknown method \"nothing\"");
  EXPECT_TRUE(client->call("hello", Json::object()));
}

TEST(Worker, DeathIsNoticedAtOnceAndExplained) {
  auto client = worker();
  auto begin = std::chrono::steady_clock::now();
  auto answer = client->call("die", Json::object());
  EXPECT_LT(std::chrono::steady_clock::now() - begin, 1s);
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error().blame, Blame::machine);
  EXPECT_THAT(answer.error().what, HasSubstr("was killed by signal 9 (Killed) during `die`; the end of its stderr: I am about to die"));
  EXPECT_EQ(client->call("hello", Json::object()).error().what, answer.error().what);
  EXPECT_THAT(worker()->call("die", {{"exit", 3}}).error().what, HasSubstr("exited with code 3"));

  auto killed = worker();
  EXPECT_TRUE(killed->call("hello", Json::object()));
  kill(killed->process_id(), SIGKILL);
  EXPECT_THAT(killed->call("hello", {{"text", std::string(1 << 20, 'x')}}).error().what, HasSubstr("signal 9"));
}

TEST(Worker, GarbageBreaksItOff) {
  auto client = worker();
  EXPECT_THAT(client->call("garbage", Json::object()).error().what, HasSubstr("broke the protocol during `garbage`"));
  EXPECT_FALSE(client->call("hello", Json::object()));
}

TEST(Worker, ManyWordsOnStderrDoNotBlockIt) {
  auto client = worker();
  EXPECT_EQ(client->call("noise", Json::object()).value(), "quiet");
}

TEST(Worker, HasItsOwnGroupAndNothingOfOurs) {
  int leaked = open("/dev/null", O_RDONLY);  // without CLOEXEC
  auto client = worker();
  Json facts = client->call("facts", Json::object()).value();
  close(leaked);
  EXPECT_EQ(facts["group"], facts["pid"]);
  EXPECT_EQ(facts["parent_death"], SIGKILL);
  EXPECT_EQ(facts["open"], 1);  // the server's own eventfd
  EXPECT_EQ(facts["environment"].dump(), R"(["WHET_WIRE_TEST=1"])");
}

TEST(Worker, LeavesNothingBehind) {
  auto client = worker();
  EXPECT_TRUE(client->call("hello", Json::object()));
  pid_t pid = client->process_id();
  auto begin = std::chrono::steady_clock::now();
  client.reset();
  EXPECT_LT(std::chrono::steady_clock::now() - begin, 1s);
  EXPECT_EQ(kill(pid, 0), -1);
}

// kill -9 of the client: the worker, in the middle of a request, goes too.
TEST(Worker, DiesWithItsClient) {
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  pid_t client_pid = fork();
  if (client_pid == 0) {
    auto client = worker();
    pid_t pid = client->process_id();
    (void)client->call("until_cancelled", Json::object(), [&](const Json&) {
      [[maybe_unused]] auto n = write(ends[1], &pid, sizeof pid);
    });
    _exit(0);
  }
  pid_t worker_pid = 0;
  ASSERT_EQ(read(ends[0], &worker_pid, sizeof worker_pid), static_cast<ssize_t>(sizeof worker_pid));
  kill(client_pid, SIGKILL);
  waitpid(client_pid, nullptr, 0);
  auto gone = [&] {
    std::string stat = "/proc/" + std::to_string(worker_pid) + "/stat";
    FILE* file = fopen(stat.c_str(), "r");
    if (!file) return true;
    char state = '?';
    int matched = fscanf(file, "%*d %*s %c", &state);
    fclose(file);
    return matched != 1 || state == 'Z';
  };
  auto until = std::chrono::steady_clock::now() + 5s;
  while (!gone() && std::chrono::steady_clock::now() < until) std::this_thread::sleep_for(1ms);
  EXPECT_TRUE(gone());
}

TEST(Worker, BlobsAreSentOnceAndInPieces) {
  auto client = worker();
  std::map<std::string, std::string> blobs;
  std::string large;
  for (int i = 0; i < 5 << 20; ++i) large += static_cast<char>(i * 2654435761u >> 13);
  for (const std::string& text : {std::string(), std::string("a\0b", 3), std::string(3 << 19, 'p'), large}) blobs[sha256_hex(text)] = text;
  auto put = client->put_blobs(blobs);
  EXPECT_TRUE(put) << put.error().what;
  EXPECT_EQ(client->call("blob.have", {{"hashes", {blobs.begin()->first, "other"}}}).value().dump(), R"({"missing":["other"]})");
  EXPECT_TRUE(client->put_blobs(blobs));
  EXPECT_EQ(client->put_blobs({{std::string(64, '0'), "x"}}).error().what, "not its hash");
}

TEST(Worker, WhatCannotBeStartedIsSaid) {
  EXPECT_THAT(open_worker({.program_folder = "/nowhere"}).error().what, HasSubstr("/nowhere/whet-worker is not a program that can be run"));
  EXPECT_THAT(open_worker({.where = {.program = "/proc/self"}}).error().what, HasSubstr("Permission denied"));
}

// A server over pipes to which a test writes what it likes.
class RawServer {
 public:
  explicit RawServer(std::size_t max_line = 1 << 20) {
    EXPECT_EQ(pipe(to_), 0);
    EXPECT_EQ(pipe(from_), 0);
    server_.handle("hello", echo);
    server_.handle("until_cancelled", until_cancelled);
    server_.set_max_line(max_line);
    thread_ = std::thread([this] {
      status_ = server_.run(to_[0], from_[1]);
      close(from_[1]);
    });
  }
  ~RawServer() {
    if (to_[1] >= 0) close(to_[1]);
    if (from_[0] >= 0) close(from_[0]);
    if (thread_.joinable()) thread_.join();
    close(to_[0]);
  }
  void write_text(std::string_view text) { EXPECT_EQ(write(to_[1], text.data(), text.size()), static_cast<ssize_t>(text.size())); }
  std::string line() {
    std::string line;
    for (char c = 0; read(from_[0], &c, 1) == 1 && c != '\n';) line += c;
    return line;
  }
  std::string ask(const std::string& text) {
    write_text(text + "\n");
    return line();
  }
  void end_input() { close(std::exchange(to_[1], -1)); }
  void stop_reading() { close(std::exchange(from_[0], -1)); }
  Status join() {
    thread_.join();
    return status_;
  }
  Server server_;

 private:
  int to_[2], from_[2];
  std::thread thread_;
  Status status_;
};

TEST(Server, MalformedLinesGetAnErrorAndTheLoopGoesOn) {
  RawServer server;
  EXPECT_THAT(server.ask("rubbish"), HasSubstr(R"("id":null,"error":{"code":-32700)"));
  EXPECT_THAT(server.ask("\xff\xfe"), HasSubstr("-32700"));
  EXPECT_THAT(server.ask("[1,2]"), HasSubstr("-32600"));
  EXPECT_THAT(server.ask("7"), HasSubstr("-32600"));
  EXPECT_THAT(server.ask(R"({"id":4,"method":"hello"})"), HasSubstr(R"("id":4,"error":{"code":-32600,"message":"jsonrpc: expected \"2.0\"")"));
  EXPECT_THAT(server.ask(R"({"jsonrpc":"2.0","id":{},"method":"hello"})"), HasSubstr("-32600"));
  EXPECT_THAT(server.ask(R"({"jsonrpc":"2.0","id":1,"method":3})"), HasSubstr("method: expected a string"));
  EXPECT_THAT(server.ask(R"({"jsonrpc":"2.0","id":1,"method":"hello","params":3})"), HasSubstr("params: expected an object or a list"));
  EXPECT_THAT(server.ask(R"({"jsonrpc":"2.0","id":1,"result":3})"), HasSubstr("nothing was asked"));
  EXPECT_THAT(server.ask(R"({"jsonrpc":"2.0","id":1,"id":2,"method":"hello"})"), HasSubstr("stands twice"));
  EXPECT_THAT(server.ask(std::string(300, '[')), HasSubstr("-32700"));
  EXPECT_THAT(server.ask(R"({"jsonrpc":"2.0","id":1,"method":"no"})"), HasSubstr("-32601"));
  EXPECT_EQ(server.ask(R"({"jsonrpc":"2.0","id":"x","method":"hello","params":{"a":1}})"), R"({"jsonrpc":"2.0","id":"x","result":{"a":1}})");
}

TEST(Server, NotificationsAndEmptyLinesAreNotAnswered) {
  RawServer server;
  server.write_text("\n  \r\n{\"jsonrpc\":\"2.0\",\"method\":\"whatever\"}\n{\"jsonrpc\":\"2.0\",\"method\":\"cancel\"}\n");
  EXPECT_EQ(server.ask(R"({"jsonrpc":"2.0","id":1.5,"method":"hello"})"), R"({"jsonrpc":"2.0","id":1.5,"result":{}})");
}

TEST(Server, LinesInPiecesAndSeveralAtOnce) {
  RawServer server;
  std::string request = R"({"jsonrpc":"2.0","id":1,"method":"hello"})" "\n";
  for (char c : request) server.write_text({&c, 1});
  EXPECT_THAT(server.line(), HasSubstr(R"("id":1,"result")"));
  server.write_text(request + request + request.substr(0, 10));
  server.line();
  server.line();
  server.write_text(request.substr(10));
  EXPECT_THAT(server.line(), HasSubstr(R"("id":1,"result")"));
}

TEST(Server, TooLongLinesAreDroppedAndReported) {
  RawServer server(1000);
  EXPECT_THAT(server.ask(std::string(50000, ' ')), HasSubstr("longer than 1000 bytes"));
  EXPECT_THAT(server.ask(R"({"jsonrpc":"2.0","id":1,"method":"hello"})"), HasSubstr(R"("id":1,"result")"));
}

TEST(Server, TheEndOfItsInputCancelsAndEnds) {
  RawServer server;
  server.write_text(R"({"jsonrpc":"2.0","id":1,"method":"until_cancelled"})" "\n" R"({"jsonrpc":"2.0","id":2,"method":"hello"})" "\n");
  EXPECT_THAT(server.line(), HasSubstr("begun"));
  server.end_input();
  EXPECT_THAT(server.line(), HasSubstr(R"("id":1,"result":"cancelled")"));
  EXPECT_THAT(server.line(), HasSubstr(R"("id":2,"result":{})"));
  EXPECT_EQ(server.line(), "");
  EXPECT_TRUE(server.join());
}

TEST(Server, CancelByIdIsForThatRequestOnly) {
  RawServer server;
  server.write_text(R"({"jsonrpc":"2.0","id":1,"method":"until_cancelled"})" "\n" R"({"jsonrpc":"2.0","id":2,"method":"until_cancelled"})" "\n");
  EXPECT_THAT(server.line(), HasSubstr("begun"));
  server.write_text(R"({"jsonrpc":"2.0","method":"cancel","params":{"id":2}})" "\n");
  server.write_text(R"({"jsonrpc":"2.0","method":"cancel","params":{"id":1}})" "\n");
  EXPECT_THAT(server.line(), HasSubstr(R"("id":1)"));
  EXPECT_THAT(server.line(), HasSubstr("begun"));
  EXPECT_THAT(server.line(), HasSubstr(R"("id":2)"));
}

TEST(Server, AClientThatIsGoneCancelsAndEndsIt) {
  RawServer server;
  server.write_text(R"({"jsonrpc":"2.0","id":1,"method":"hello"})" "\n");
  server.line();
  server.stop_reading();
  server.write_text(R"({"jsonrpc":"2.0","id":2,"method":"until_cancelled"})" "\n");  // its progress meets EPIPE, no SIGPIPE
  EXPECT_TRUE(server.join());
}

// A handler that nobody can cancel, a client that is gone: by its answers, or by its requests and then its answers.
TEST(Server, IsLeftWhenTheClientIsGoneAndTheRequestDoesNotEnd) {
  for (const bool ends_its_input_first : {false, true}) {
    std::promise<void> left, begun;
    RawServer server;
    server.server_.when_deserted(1ms, [&] { left.set_value(); });
    server.server_.handle("deaf", [&](const Json&, CallContext&) -> Expected<Json> {
      begun.set_value();
      left.get_future().wait();
      return Json();
    });
    server.write_text(R"({"jsonrpc":"2.0","id":1,"method":"deaf"})" "\n");
    begun.get_future().wait();
    if (ends_its_input_first) server.end_input();
    server.stop_reading();
    EXPECT_TRUE(server.join());
  }
}

TEST(Server, IsNotLeftWhileItsAnswersAreRead) {
  std::atomic<bool> left{false};
  RawServer server;
  server.server_.when_deserted(1ms, [&] { left = true; });
  server.server_.handle("slow", [&](const Json&, CallContext& context) -> Expected<Json> {
    while (!context.cancelled()) std::this_thread::sleep_for(1ms);
    std::this_thread::sleep_for(200ms);  // several looks of the one who watches
    return Json("slow");
  });
  server.write_text(R"({"jsonrpc":"2.0","id":1,"method":"slow"})" "\n");
  server.end_input();
  EXPECT_THAT(server.line(), HasSubstr("slow"));
  EXPECT_TRUE(server.join());
  EXPECT_FALSE(left);
}

TEST(Server, StopEndsIt) {
  RawServer server;
  server.write_text(R"({"jsonrpc":"2.0","id":1,"method":"until_cancelled"})" "\n");
  EXPECT_THAT(server.line(), HasSubstr("begun"));
  server.server_.stop();
  EXPECT_THAT(server.line(), HasSubstr("cancelled"));
  EXPECT_TRUE(server.join());
}

TEST(Base64, BothWays) {
  for (const auto& [bytes, text] : std::map<std::string, std::string>{
           {"", ""}, {"f", "Zg=="}, {"fo", "Zm8="}, {"foo", "Zm9v"}, {"foobar", "Zm9vYmFy"}, {std::string("\0\xff\xfe", 3), "AP/+"}}) {
    EXPECT_EQ(to_base64(bytes), text);
    EXPECT_EQ(from_base64(text).value(), bytes);
  }
  for (const char* bad : {"Zg=", "Z", "Zg==Zg==", "Z===", "====", "Zm9\n", "Zm9v\n", "Zh==", "Zm9="}) EXPECT_FALSE(from_base64(bad)) << bad;
}

}  // namespace
}  // namespace whet
