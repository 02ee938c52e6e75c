// SPDX-License-Identifier: Apache-2.0
#include "wire/far_side.h"

namespace whet {
namespace {

// The scripts stand between single quotes, on one line: so there is no single quote, no backslash, no line feed and no exclamation mark in them.

// $1 folder, $2 hash, $3 bytes: f is the program; same FILE says whether it has that hash (its size where there is no sha256sum).
constexpr const char* kPlace =
    "d=$1; "
    "case $d in \"\") d=${XDG_CACHE_HOME:-$HOME/.cache}/whet/worker;; \"~\"*) d=$HOME${d#?};; esac; "
    "f=$d/whet-worker-$2; want=$2; bytes=$3; shift 3; "
    "same() { if command -v sha256sum >/dev/null 2>&1; then h=$(sha256sum <\"$1\"); [ \"${h%% *}\" = \"$want\" ]; "
    "else [ \"$(wc -c <\"$1\")\" -eq \"$bytes\" ]; fi; }; ";

// The worker is not exec'ed: ssh tells a lost connection (255) and a worker that was killed apart only by the shell's 128 + N.
constexpr const char* kStart =
    "if [ -f \"$f\" ] && [ -x \"$f\" ] && same \"$f\"; then echo \"whet-worker: starts\"; else echo \"whet-worker: missing\"; exit 0; fi; "
    "\"$f\" \"$@\"; exit $?";

constexpr const char* kReceive =
    "mkdir -p \"$d\" || exit 1; "
    "find \"$d\" -maxdepth 1 -name \".arriving-*\" -mmin +60 -exec rm -f {} + 2>/dev/null; "
    "t=$(mktemp \"$d/.arriving-XXXXXX\") || exit 1; "
    "clean() { rm -f \"$t\"; }; trap clean EXIT; trap \"exit 1\" HUP INT TERM PIPE; "
    "cat >\"$t\" || exit 1; "
    "n=$(wc -c <\"$t\"); [ \"$n\" -eq \"$bytes\" ] || { echo \"$n of $bytes bytes arrived\" >&2; exit 1; }; "
    "same \"$t\" || { echo \"what arrived has another SHA-256\" >&2; exit 1; }; "
    "chmod 755 \"$t\" && mv -f \"$t\" \"$f\" && echo \"whet-worker: arrived\"";

// In single quotes; fish, csh and POSIX shells agree on '\'' between them.
std::string quoted(const std::string& word) {
  std::string text = "'";
  for (const char c : word) {
    if (c == '\'') text += "'\\''";
    else text += c;
  }
  return text + "'";
}

std::string command(const char* script, const FarProgram& program, const std::vector<std::string>& arguments) {
  std::string line = "exec sh -c " + quoted(std::string(kPlace) + script) + " sh";
  for (const std::string& word : {program.folder, program.hash, std::to_string(program.bytes)}) line += " " + quoted(word);
  for (const std::string& word : arguments) line += " " + quoted(word);
  return line;
}

}  // namespace

std::string far_start(const FarProgram& program, const std::vector<std::string>& arguments) { return command(kStart, program, arguments); }

std::string far_receive(const FarProgram& program) { return command(kReceive, program, {}); }

}  // namespace whet
