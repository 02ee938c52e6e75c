// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <iterator>
#include <span>
#include <string_view>

namespace whet {

struct EmbeddedFile {
  std::string_view path;      // relative, with forward slashes
  std::string_view contents;  // as in the source tree, byte for byte
};

// Defined in files that the build generates (cmake/programs.cmake), each linked into the program that carries the data.
std::span<const EmbeddedFile> embedded_tasks();  // whet: the shipped tasks, "attention-cpu/task.toml", ...
std::span<const EmbeddedFile> embedded_abi();    // whet-worker: "whet/candidate.h"
std::span<const EmbeddedFile> embedded_device_code();  // truth/gpu: one fatbin per .cu file; empty when it was built without nvcc
std::span<const EmbeddedFile> embedded_levers();  // whet-worker: "labels.json"
std::span<const EmbeddedFile> embedded_bridge();  // truth/python: "whet.py"
std::span<const EmbeddedFile> embedded_python_runner();  // whet-worker: whet-python-runner.so; empty where it cannot be made

}  // namespace whet
