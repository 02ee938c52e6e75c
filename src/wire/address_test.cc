// SPDX-License-Identifier: Apache-2.0
#include "wire/address.h"

#include <gtest/gtest.h>

namespace whet {
namespace {

WorkerAddress parsed(const std::string& text) {
  const auto address = parse_worker_address(text, "--worker");
  EXPECT_TRUE(address) << address.error().what;
  return address.value_or(WorkerAddress{});
}
std::string complaint(const std::string& text) {
  const auto address = parse_worker_address(text, "--worker");
  return address ? "none: " + address->text() : address.error().what;
}

TEST(WorkerAddress, IsReadAndWritten) {
  EXPECT_EQ(parsed("local:"), WorkerAddress{});
  EXPECT_EQ(parsed("local:/opt/w"), (WorkerAddress{.program = "/opt/w"}));
  EXPECT_EQ(parsed("ssh://gpu"), (WorkerAddress{.host = "gpu"}));
  EXPECT_EQ(parsed("ssh://gpu/"), (WorkerAddress{.host = "gpu"})) << "no folder is named";
  EXPECT_EQ(parsed("ssh://me@gpu-1.lab_2:2222/scratch/my $work's/"),
            (WorkerAddress{.host = "gpu-1.lab_2", .user = "me", .port = 2222, .folder = "/scratch/my $work's"}));
  EXPECT_EQ(parsed("ssh://a@corp@gpu/~/w"), (WorkerAddress{.host = "gpu", .user = "a@corp", .folder = "~/w"}));
  EXPECT_EQ(parsed("ssh://[fe80::1%eth0]:22/~"), (WorkerAddress{.host = "fe80::1%eth0", .port = 22, .folder = "~"}));
  for (const char* text : {"local:", "local:/opt/w", "ssh://gpu", "ssh://me@gpu:2222/scratch/w", "ssh://gpu/~/w", "ssh://[::1]:22/~"})
    EXPECT_EQ(parsed(text).text(), text);
}

TEST(WorkerAddress, WhatItIsNotIsSaid) {
  const std::string forms = "expected local:, local:/path/to/whet-worker or ssh://[user@]host[:port][/folder]";
  for (const std::string text : {"", "gpu", "ssh:host", "ssh:/host", "slurm://x"})
    EXPECT_EQ(complaint(text), "--worker: " + forms + ", found '" + text + "'");
  const std::string host = "expected a host after ssh:// (letters, digits and . _ -, or an IPv6 number in brackets), found ";
  EXPECT_EQ(complaint("ssh://"), "--worker: ssh://: " + host + "''");
  EXPECT_EQ(complaint("ssh://-oProxyCommand=x"), "--worker: ssh://-oProxyCommand=x: " + host + "'-oProxyCommand=x'");
  EXPECT_EQ(complaint("ssh://a b/c"), "--worker: ssh://a b/c: " + host + "'a b'");
  EXPECT_EQ(complaint("ssh://$(x)"), "--worker: ssh://$(x): " + host + "'$(x)'");
  EXPECT_EQ(complaint("ssh://[::1"), "--worker: ssh://[::1: " + host + "'[::1'");
  EXPECT_EQ(complaint("ssh://-l@gpu"), "--worker: ssh://-l@gpu: expected a user's name before the @ (letters, digits and . _ - + @), found '-l'");
  EXPECT_EQ(complaint("ssh://@gpu"), "--worker: ssh://@gpu: expected a user's name before the @ (letters, digits and . _ - + @), found ''");
  for (const std::string port : {":", ":0", ":65536", ":22x", ":-1", ":::"})
    EXPECT_EQ(complaint("ssh://gpu" + port), "--worker: ssh://gpu" + port + ": expected a port after the host, :1 to :65535, found '" + port + "'");
  EXPECT_EQ(complaint("ssh://[::1]22"), "--worker: ssh://[::1]22: expected a port after the host, :1 to :65535, found '22'");
  EXPECT_EQ(complaint("ssh://gpu/~bob/w"),
            "--worker: ssh://gpu/~bob/w: expected /~/folder (below the home folder of whoever logs in) or an absolute folder, found '/~bob/w'");
  for (const std::string folder : {"/a\nb", "/a\\b"})
    EXPECT_EQ(complaint("ssh://gpu" + folder),
              "--worker: ssh://gpu" + folder + ": expected a folder without control characters and backslashes; choose another on that machine");
}

TEST(SshProgram, IsCutIntoWords) {
  using Words = std::vector<std::string>;
  EXPECT_EQ(parse_ssh_program("ssh", "WHET_SSH").value(), Words{"ssh"});
  EXPECT_EQ(parse_ssh_program("  /usr/bin/ssh -F 'my config'  -o \"A b\"c '' ", "WHET_SSH").value(), (Words{"/usr/bin/ssh", "-F", "my config", "-o", "A bc", ""}));
  EXPECT_EQ(parse_ssh_program("ssh $(x) `y`", "WHET_SSH").value(), (Words{"ssh", "$(x)", "`y`"})) << "no shell is asked";
  EXPECT_EQ(parse_ssh_program("ssh -F 'x", "WHET_SSH").error().what, "WHET_SSH: expected another ' that ends the quotation, found 'ssh -F 'x'");
  EXPECT_EQ(parse_ssh_program("  ", "WHET_SSH").error().what, "WHET_SSH: expected a program like ssh, with or without arguments, found '  '");
}

}  // namespace
}  // namespace whet
