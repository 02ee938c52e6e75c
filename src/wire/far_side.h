// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace whet {

// The worker's program on another machine: FOLDER/whet-worker-HASH, whole or absent.
struct FarProgram {
  std::string folder;  // as WorkerAddress has it: absolute, "~", "~/a"; empty: $XDG_CACHE_HOME/whet/worker or ~/.cache/whet/worker
  std::string hash;    // SHA-256 of its bytes
  uint64_t bytes = 0;
};

// What the other side says on a line of its own before anything else on its standard output.
inline constexpr const char* kFarStarts = "whet-worker: starts";    // the protocol follows
inline constexpr const char* kFarMissing = "whet-worker: missing";  // there is no such program, or it has another SHA-256; it ends
inline constexpr const char* kFarArrived = "whet-worker: arrived";  // after its bytes were sent; it ends

// One command line for the login shell of the other side, whichever shell that is (POSIX, fish, csh): `exec sh -c` with words in single quotes.
//
// Starts the program with `arguments` if it is there. Where there is no sha256sum its size is looked at; the worker's own hash is in its hello.
// The exit code is the worker's, 128 + N if it was killed by the signal N.
std::string far_start(const FarProgram& program, const std::vector<std::string>& arguments);
// Takes the program's bytes from standard input: to a name of its own, checked, then renamed. Any number may do so at once; one that is cut off leaves
// nothing, or a .arriving-* that a later one removes after an hour.
std::string far_receive(const FarProgram& program);

}  // namespace whet
