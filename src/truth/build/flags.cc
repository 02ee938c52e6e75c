// SPDX-License-Identifier: Apache-2.0
#include "truth/build/flags.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>

#include "base/file.h"

namespace whet {
namespace {

// Options below -f that name a file, write one, load code, or start a program.
constexpr std::string_view kForbiddenFeatures[] = {"plugin",
                                                   "profile",
                                                   "auto-profile",
                                                   "branch-probabilities",
                                                   "test-coverage",
                                                   "dump",
                                                   "save-",
                                                   "stack-usage",
                                                   "callgraph-info",
                                                   "compare-debug",
                                                   "module",
                                                   "self-test",
                                                   "resolution",
                                                   "ltrans",
                                                   "wpa",
                                                   "use-ld",
                                                   "use-linker-plugin",
                                                   "no-use-linker-plugin",
                                                   "offload",
                                                   "sanitize",
                                                   "diagnostics-format",
                                                   "diagnostics-generate-patch",
                                                   "file-prefix-map",
                                                   "debug-prefix-map",
                                                   "macro-prefix-map",
                                                   "canon-prefix-map",
                                                   "working-directory",
                                                   "pch",
                                                   "preprocessed",
                                                   "directives-only",
                                                   "syntax-only",
                                                   "exec-charset",
                                                   "wide-exec-charset",
                                                   "input-charset",
                                                   "syntax",
                                                   "go-",
                                                   "rust-",
                                                   "dbg-cnt",
                                                   "disable-",
                                                   "enable-",
                                                   "lto-",
                                                   "lang-",
                                                   "instrument-functions"};

constexpr std::string_view kLinkerOptions[] = {"-O0",
                                               "-O1",
                                               "-O2",
                                               "-O3",
                                               "--as-needed",
                                               "--no-as-needed",
                                               "--gc-sections",
                                               "-Bsymbolic",
                                               "-Bsymbolic-functions",
                                               "--no-undefined",
                                               "-s",
                                               "--strip-all",
                                               "--build-id",
                                               "--build-id=none",
                                               "-z,now",
                                               "-z,relro",
                                               "-z,noexecstack",
                                               "-z,nodelete",
                                               "--hash-style=gnu",
                                               "--exclude-libs=ALL"};
constexpr std::string_view kSystemLibraries[] = {"-lm",    "-ldl",     "-lpthread", "-lrt",   "-latomic",
                                                 "-lgomp", "-lstdc++", "-lc",       "-lgcc_s"};

bool is_printable(std::string_view text) {
  return std::ranges::all_of(text, [](char c) { return c >= 0x20 && c < 0x7f; });
}

// "-fname=value": letters, digits and a few signs, so that no value can be a path, a response file or a list of programs.
bool is_plain_option(std::string_view text) {
  return std::ranges::all_of(text, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           std::string_view("-+_=.,:").find(c) != std::string_view::npos;
  });
}

std::optional<std::string> refuse(const std::string& flag, std::string_view why) {
  return fmt::format("the flag \"{}\" is refused: {}", flag, why);
}

// Options that compiling and linking share. Sets `known` when the flag is of such a kind.
std::optional<std::string> refused_common(const std::string& flag, bool& known) {
  known = true;
  if (flag.empty() || flag[0] != '-')
    return refuse(flag, "expected an option that starts with \"-\"; sources are listed in \"sources\"");
  if (!is_printable(flag)) return refuse(flag, "it has characters that are not printable ASCII");
  if (flag == "-pthread" || flag == "-fopenmp" || flag == "-fopenmp-simd") return {};
  if (flag.starts_with("-O") || flag.starts_with("-m") || flag.starts_with("-g")) {
    if (!is_plain_option(flag)) return refuse(flag, "its value has signs that such an option never needs");
    return {};
  }
  if (flag.starts_with("-f")) {
    if (!is_plain_option(flag))
      return refuse(flag, "its value has signs that such an option never needs; paths are not allowed");
    std::string_view feature = std::string_view(flag).substr(2);
    if (feature.starts_with("no-")) feature.remove_prefix(3);
    for (const std::string_view bad : kForbiddenFeatures)
      if (feature.starts_with(bad)) return refuse(flag, "it loads code, or reads or writes files");
    return {};
  }
  known = false;
  return {};
}

}  // namespace

std::optional<std::string> refused_compile_flag(const std::vector<std::string>& cflags) {
  for (const std::string& flag : cflags) {
    bool known = false;
    if (auto why = refused_common(flag, known); why || known) {
      if (why) return why;
      continue;
    }
    if (flag.starts_with("-std=")) {
      if (!is_plain_option(flag)) return refuse(flag, "expected a language standard such as -std=c++20");
    } else if (flag.starts_with("-D") || flag.starts_with("-U")) {
      if (flag.size() == 2) return refuse(flag, "write the macro into the same word: -DNAME=1");
    } else if (flag.starts_with("-I")) {
      const std::string folder = flag.substr(2);
      if (folder != "." && !is_plain_relative_path(folder))
        return refuse(flag, "expected a folder of the Solution, relative, in the same word: -Iinclude");
    } else if (flag.starts_with("-Wl,") || flag.starts_with("-Wa,") || flag.starts_with("-Wp,")) {
      return refuse(flag, "options may not be passed through to other programs; linker options stand in \"ld_flags\"");
    } else if (flag.starts_with("-W") || flag.starts_with("--param=")) {
      if (!is_plain_option(flag)) return refuse(flag, "its value has signs that such an option never needs");
    } else if (flag != "-w" && flag != "-pedantic" && flag != "-pedantic-errors") {
      return refuse(flag,
                    "it is not in the list of what a Solution may ask for: -O, -m, -f, -std=, -D, -U, -I, -W, -g, "
                    "-pthread, --param=");
    }
  }
  return {};
}

std::optional<std::string> refused_link_flag(const std::vector<std::string>& ld_flags) {
  for (const std::string& flag : ld_flags) {
    bool known = false;
    if (auto why = refused_common(flag, known); why || known) {
      if (why) return why;
      continue;
    }
    if (flag == "-s" || flag == "-static-libgcc" || flag == "-static-libstdc++" ||
        std::ranges::find(kSystemLibraries, flag) != std::end(kSystemLibraries))
      continue;
    if (flag.starts_with("-Wl,") &&
        std::ranges::find(kLinkerOptions, std::string_view(flag).substr(4)) != std::end(kLinkerOptions))
      continue;
    if (flag.starts_with("-l"))
      return refuse(flag, "a library that is not the system's own is named in \"dependencies\"");
    return refuse(flag, "it is not in the list of what a Solution may ask the linker for");
  }
  return {};
}

std::vector<std::string> flags_for_language(const std::vector<std::string>& cflags, bool is_c) {
  std::vector<std::string> chosen;
  for (const std::string& flag : cflags) {
    const bool is_standard = flag.starts_with("-std=");
    const bool of_cpp = flag.find("++") != std::string::npos;
    if (!is_standard || of_cpp != is_c) chosen.push_back(flag);
  }
  return chosen;
}

std::vector<std::string> flags_for_link(const std::vector<std::string>& cflags) {
  std::vector<std::string> chosen;
  for (const std::string& flag : cflags)
    for (const char* prefix : {"-O", "-m", "-flto", "-fopenmp", "-pthread", "-g"})
      if (flag.starts_with(prefix)) {
        chosen.push_back(flag);
        break;
      }
  return chosen;
}

}  // namespace whet
