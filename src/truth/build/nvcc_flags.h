// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace whet {

// The compile options of a Solution with .cu files. They are vetted as those of C++ are (flags.h), and nvcc's own may stand among them, in one word
// ("-Xptxas=-v") or in two ("-Xptxas", "-v"): those that change code generation, the architecture, and what is passed to ptxas and to the host
// compiler, word by word. nvcc hands its options to a shell and splits them at commas, so signs that either would take for its own are refused.
// Nothing when all are allowed; else one sentence that names the flag, the reason and what to do.
std::optional<std::string> refused_cuda_flag(const std::vector<std::string>& cflags);

// Of allowed `cflags`, those of a .cu file as nvcc takes them: g++'s own are passed on by -Xcompiler.
std::vector<std::string> nvcc_flags(const std::vector<std::string>& cflags);
// Of allowed `cflags`, those of a .c or .cc file beside it: nvcc's are left out.
std::vector<std::string> host_flags(const std::vector<std::string>& cflags);

// A name that stands unquoted in nvcc's commands: letters, digits and "_./+-".
bool is_nvcc_file_name(const std::string& path);

}  // namespace whet
