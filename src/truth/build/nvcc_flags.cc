// SPDX-License-Identifier: Apache-2.0
#include "truth/build/nvcc_flags.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <utility>

#include "truth/build/flags.h"

namespace whet {
namespace {

// Options that may have their value in the next word, and what they are called below.
constexpr std::pair<std::string_view, std::string_view> kWithValue[] = {
    {"-Xptxas", "-Xptxas"},           {"--ptxas-options", "-Xptxas"},     {"-Xcompiler", "-Xcompiler"},
    {"--compiler-options", "-Xcompiler"}, {"-gencode", "-gencode"},       {"--generate-code", "-gencode"},
    {"-arch", "-arch"},               {"--gpu-architecture", "-arch"},    {"-maxrregcount", "-maxrregcount"},
    {"--maxrregcount", "-maxrregcount"}, {"-diag-suppress", "-diag-suppress"}, {"--diag-suppress", "-diag-suppress"},
    {"-default-stream", "-default-stream"}, {"--default-stream", "-default-stream"}};

constexpr std::string_view kSwitches[] = {"-use_fast_math",
                                          "--use_fast_math",
                                          "-expt-relaxed-constexpr",
                                          "--expt-relaxed-constexpr",
                                          "-expt-extended-lambda",
                                          "--expt-extended-lambda",
                                          "-extended-lambda",
                                          "--extended-lambda",
                                          "-extra-device-vectorization",
                                          "--extra-device-vectorization",
                                          "-restrict",
                                          "--restrict",
                                          "-lineinfo",
                                          "--generate-line-info",
                                          "-Wno-deprecated-gpu-targets"};
constexpr std::string_view kYesOrNo[] = {"-ftz=", "--ftz=", "-fmad=", "--fmad=", "-prec-div=", "--prec-div=", "-prec-sqrt=", "--prec-sqrt="};

constexpr std::string_view kPtxas[] = {"-v", "--verbose", "-O0", "-O1", "-O2", "-O3", "-warn-spills", "--warn-on-spills",
                                       "-warn-lmem-usage", "--warn-on-local-memory-usage", "-warn-double-usage",
                                       "--warn-on-double-precision-use", "-disable-optimizer-constants",
                                       "--disable-optimizer-constants"};
// With a value of letters and digits.
constexpr std::string_view kPtxasWithValue[] = {"-dlcm=", "--def-load-cache=", "-dscm=", "--def-store-cache=",
                                                "-allow-expensive-optimizations=", "--allow-expensive-optimizations=",
                                                "-register-usage-level=", "--register-usage-level=", "-fmad=", "--fmad=",
                                                "-maxrregcount=", "--maxrregcount=", "-opt-level=", "--opt-level="};

template <class List>
bool is_in(const List& list, std::string_view word) {
  return std::ranges::find(list, word) != std::end(list);
}

bool is_word(std::string_view text, std::string_view also = "") {
  return !text.empty() && std::ranges::all_of(text, [&](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || also.find(c) != std::string_view::npos;
  });
}
bool is_number(std::string_view text) {
  return !text.empty() && text.find_first_not_of("0123456789") == std::string_view::npos;
}

std::vector<std::string> parts_of(std::string_view list) {
  std::vector<std::string> parts(1);
  for (const char c : list) {
    if (c == ',') parts.emplace_back();
    else parts.back() += c;
  }
  return parts;
}

// One word an option, with one name for each that has a value. A value that is missing shows as an option without "=".
std::vector<std::string> in_one_word(const std::vector<std::string>& cflags) {
  std::vector<std::string> words;
  for (size_t i = 0; i < cflags.size(); ++i) {
    std::string word = cflags[i];
    for (const auto& [spelling, name] : kWithValue) {
      if (word == spelling && i + 1 < cflags.size()) word = std::string(name) + "=" + cflags[++i];
      else if (word.starts_with(std::string(spelling) + "=")) word = std::string(name) + word.substr(spelling.size());
      else continue;
      break;
    }
    words.push_back(std::move(word));
  }
  return words;
}

bool is_for_nvcc(const std::string& word) {
  const auto starts = [&](std::string_view start) { return word.starts_with(start); };
  return is_in(kSwitches, word) || std::ranges::any_of(kYesOrNo, starts) ||
         std::ranges::any_of(kWithValue, [&](const auto& option) { return word == option.second || word.starts_with(std::string(option.second) + "="); });
}

std::string refusal(const std::string& flag, std::string_view why) {
  return fmt::format("the flag \"{}\" is refused: {}", flag, why);
}

std::optional<std::string> refused_ptxas(const std::string& word, std::string_view list) {
  for (const std::string& part : parts_of(list)) {
    const auto has_value = [&](std::string_view start) { return part.starts_with(start) && is_word(std::string_view(part).substr(start.size())); };
    if (!is_in(kPtxas, part) && std::ranges::none_of(kPtxasWithValue, has_value))
      return refusal(word, "\"" + part + "\" is not in the list of what a Solution may ask of ptxas: -O, -v, -dlcm=, -dscm=, "
                                         "-warn-spills, -warn-lmem-usage, -allow-expensive-optimizations=, -register-usage-level=, ...");
  }
  return {};
}

// "sm_90a", "compute_100f", and for -gencode "arch=compute_90a,code=sm_90a", "...,code=[sm_90a,compute_90a]".
std::optional<std::string> refused_arch(const std::string& word, std::string_view value) {
  const auto is_arch = [](std::string_view text) {
    for (const std::string_view start : {"sm_", "compute_", "lto_"})
      if (text.starts_with(start)) return is_word(text.substr(start.size())) && start != "lto_";
    return false;
  };
  std::string plain;
  for (const char c : value)
    if (c != '[' && c != ']') plain += c;
  for (std::string part : parts_of(plain)) {
    for (const char* key : {"arch=", "code="})
      if (word.starts_with("-gencode") && part.starts_with(key)) part.erase(0, 5);
    if (!is_arch(part))
      return refusal(word, "expected an architecture such as sm_90a; without this flag the judge names that of its GPU");
  }
  return {};
}

std::optional<std::string> refused_nvcc_own(const std::string& word) {
  const size_t equals = word.find('=');
  if (equals == std::string::npos) return is_in(kSwitches, word) ? std::nullopt : std::optional(refusal(word, "its value is missing"));
  const std::string name = word.substr(0, equals), value = word.substr(equals + 1);
  if (name == "-Xptxas") return refused_ptxas(word, value);
  if (name == "-gencode" || name == "-arch") return refused_arch(word, value);
  if (name == "-maxrregcount") return is_number(value) ? std::nullopt : std::optional(refusal(word, "expected a number of registers"));
  if (name == "-diag-suppress") {
    for (const std::string& part : parts_of(value))
      if (!is_number(part)) return refusal(word, "expected numbers of warnings, such as 177,550");
    return {};
  }
  if (name == "-default-stream")
    return value == "legacy" || value == "null" || value == "per-thread" ? std::nullopt : std::optional(refusal(word, "expected legacy, null or per-thread"));
  if (name == "-Xcompiler") {
    for (const std::string& part : parts_of(value)) {
      if (!is_word(part, "-+_=.:/")) return refusal(word, "a word of it has signs that a shell could take for its own");
      if (auto why = refused_compile_flag({part})) return why;
    }
    return {};
  }
  return value == "true" || value == "false" ? std::nullopt : std::optional(refusal(word, "expected true or false"));
}

bool nvcc_takes(const std::string& word) {
  return word.starts_with("-D") || word.starts_with("-U") || word.starts_with("-I") || word.starts_with("-std=") || word == "-w" ||
         is_in(std::initializer_list<std::string_view>{"-O0", "-O1", "-O2", "-O3"}, word);
}

}  // namespace

std::optional<std::string> refused_cuda_flag(const std::vector<std::string>& cflags) {
  for (const std::string& word : in_one_word(cflags)) {
    if (is_for_nvcc(word)) {
      if (auto why = refused_nvcc_own(word)) return why;
      continue;
    }
    if (auto why = refused_compile_flag({word})) return why;
    if (word.find_first_of("$`\\\"',;|&<>(){}*?!#~ ") != std::string::npos)
      return refusal(word, "it has a sign that nvcc or its shell would take for its own; in a Solution with .cu files put it into a header");
  }
  return {};
}

std::vector<std::string> nvcc_flags(const std::vector<std::string>& cflags) {
  std::vector<std::string> chosen;
  for (const std::string& word : flags_for_language(in_one_word(cflags), false))
    chosen.push_back(is_for_nvcc(word) || nvcc_takes(word) ? word : "-Xcompiler=" + word);
  return chosen;
}

std::vector<std::string> host_flags(const std::vector<std::string>& cflags) {
  std::vector<std::string> chosen;
  for (const std::string& word : in_one_word(cflags))
    if (!is_for_nvcc(word)) chosen.push_back(word);
  return chosen;
}

bool is_nvcc_file_name(const std::string& path) { return is_word(path, "_./+-"); }

}  // namespace whet
