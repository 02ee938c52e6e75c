// SPDX-License-Identifier: Apache-2.0
#include "tests/ssh/sshd.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "base/file.h"
#include "tests/killed/processes.h"

namespace whet {
namespace {

namespace fs = std::filesystem;

std::string program() {
  for (const char* file : {"/usr/sbin/sshd", "/usr/local/sbin/sshd", "/usr/bin/sshd"})
    if (access(file, X_OK) == 0) return file;
  return "";
}

sockaddr_in loopback(int port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  address.sin_port = htons(static_cast<uint16_t>(port));
  return address;
}

int free_port() {
  const Descriptor socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in address = loopback(0);
  socklen_t size = sizeof address;
  if (bind(socket.get(), reinterpret_cast<sockaddr*>(&address), size) != 0) return 0;
  getsockname(socket.get(), reinterpret_cast<sockaddr*>(&address), &size);
  return ntohs(address.sin_port);
}

bool listens(int port) {
  const Descriptor socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  const sockaddr_in address = loopback(port);
  return connect(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0;
}

Expected<std::string> make_key(const fs::path& file) {
  WHET_TRY(const ProcessResult made, run_process({.argv = {"/usr/bin/ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", "whet-test", "-f", file.string()}}));
  if (!made.ok()) return machine_failed("ssh-keygen: {}", made.err);
  WHET_TRY(std::string key, read_file(file.string() + ".pub"));
  return key;
}

}  // namespace

std::string Sshd::missing() {
  if (program().empty()) return "there is no sshd here; `sh tools/setup` installs it (openssh-server)";
  if (access("/usr/bin/ssh", X_OK) != 0 || access("/usr/bin/ssh-keygen", X_OK) != 0) return "there is no ssh here; `sh tools/setup` installs it (openssh-client)";
  return "";
}

Expected<Sshd> Sshd::start(const fs::path& folder) {
  Sshd sshd;
  sshd.folder_ = folder;
  sshd.port_ = free_port();
  sshd.closed_port_ = free_port();
  WHET_OK(make_folders(folder));
  WHET_OK(sshd.write_files());
  // As root it wants the folder that the distribution's service makes at its start.
  if (getuid() == 0) WHET_OK(make_folders("/run/sshd"));
  ProcessSpec spec{.argv = {program(), "-D", "-f", (folder / "sshd").string(), "-E", (folder / "log").string()}};
  WHET_TRY(sshd.process_, Process::start(spec));
  WHET_OK(sshd.wait_until_it_listens());
  return sshd;
}

Status Sshd::write_files() {
  WHET_TRY(const std::string host, make_key(folder_ / "host_key"));
  WHET_TRY(const std::string key, make_key(folder_ / "key"));
  WHET_TRY(const std::string loud, make_key(folder_ / "loud_key"));
  WHET_TRY(const std::string strange, make_key(folder_ / "strange_key"));
  const std::string in = folder_.string() + "/";
  WHET_OK(write_file_atomically(in + "authorized_keys",
                                key + R"(command="echo Welcome to the cluster; eval \"$SSH_ORIGINAL_COMMAND\"" )" + loud));
  WHET_OK(write_file_atomically(in + "known_hosts", "whet-test " + host + "whet-changed " + strange));
  WHET_OK(make_folders(in + "home"));
  // A home of its own over there too: what the tester's login shell does at its start is not what is tested, and his cache is left alone.
  WHET_OK(write_file_atomically(in + "sshd", fmt::format("Port {}\nListenAddress 127.0.0.1\nHostKey {}host_key\nAuthorizedKeysFile {}authorized_keys\nPidFile none\n"
                                                         "StrictModes no\nUsePAM no\nPasswordAuthentication no\nKbdInteractiveAuthentication no\n"
                                                         "PermitRootLogin prohibit-password\nPrintMotd no\nSetEnv HOME={}home\n",
                                                         port_, in, in, in)));
  std::string client;
  const auto add = [&](const char* name, const char* key_file, const char* alias, int port) {
    client += fmt::format("Host {}\n  HostName 127.0.0.1\n  Port {}\n  IdentityFile {}{}\n  HostKeyAlias {}\n", name, port, in, key_file, alias);
  };
  add("gpu", "key", "whet-test", port_);
  add("loud", "loud_key", "whet-test", port_);
  add("stranger", "key", "whet-unknown", port_);
  add("changed", "key", "whet-changed", port_);
  add("refused", "strange_key", "whet-test", port_);
  add("closed", "key", "whet-test", closed_port_);
  client += fmt::format("Host *\n  IdentitiesOnly yes\n  IdentityAgent none\n  UserKnownHostsFile {}known_hosts\n  GlobalKnownHostsFile /dev/null\n", in);
  return write_file_atomically(in + "client", client);
}

Status Sshd::wait_until_it_listens() {
  bool ended = false;
  const bool ready = within(5000, [&] {
    const auto end = process_.poll();
    ended = !end || end->has_value();
    return ended || listens(port_);
  });
  if (ready && !ended) return {};
  return machine_failed("sshd does not listen: {}", read_file(folder_ / "log").value_or("it wrote no log"));
}

void Sshd::kill_connections() const {
  for (const Descendant& process : descendants(pid()))
    if (process.name.starts_with("sshd")) ::kill(process.pid, SIGKILL);
}

}  // namespace whet
