// SPDX-License-Identifier: Apache-2.0
#include "truth/build/ptxas.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <map>
#include <memory>
#include <string_view>
#include <vector>

#include "base/demangle.h"

namespace whet {
namespace {

std::string_view trimmed(std::string_view text) {
  const size_t begin = text.find_first_not_of(" \t\r");
  if (begin == std::string_view::npos) return "";
  return text.substr(begin, text.find_last_not_of(" \t\r") - begin + 1);
}

// Removes `start` from the front, if it is there.
bool take(std::string_view& text, std::string_view start) {
  if (!text.starts_with(start)) return false;
  text.remove_prefix(start.size());
  return true;
}

// Removes a number from the front; -1 when there is none.
int64_t take_number(std::string_view& text) {
  int64_t number = -1;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc()) return -1;
  text.remove_prefix(static_cast<size_t>(end - text.data()));
  return number;
}

// "'name'..." -> name
std::string_view quoted(std::string_view text) {
  const size_t begin = text.find('\''), end = text.find('\'', begin + 1);
  return begin == std::string_view::npos || end == std::string_view::npos ? "" : text.substr(begin + 1, end - begin - 1);
}

// "... in the function '_Z1fPi'": the name after the last "function".
std::string_view function_of(std::string_view text) {
  const size_t at = text.rfind("function '");
  return at == std::string_view::npos ? "" : quoted(text.substr(at));
}

class Reading {
 public:
  PtxasReading run(std::string_view log) {
    while (!log.empty()) {
      const size_t end = std::min(log.find('\n'), log.size());
      line(log.substr(0, end));
      log.remove_prefix(std::min(end + 1, log.size()));
    }
    for (auto& [symbol, advisories] : pending_)
      for (std::string& advisory : advisories) attribute(symbol, std::move(advisory));
    return std::move(reading_);
  }

 private:
  void line(std::string_view whole) {
    std::string_view text = whole;
    if (take(text, "ptxas info    : ") || take(text, "ptxas info : ")) {
      if (!info(trimmed(text))) keep(whole), advise(trimmed(text));
      return;
    }
    if (frame(trimmed(text))) return;
    keep(whole);
    if (take(text, "ptxas warning : ")) advise(trimmed(text));
  }

  void keep(std::string_view line) { reading_.rest.append(line).append("\n"); }

  // What it says under -v; false for a line that is unknown. Those are advice: nothing that a newer ptxas has to say is lost.
  bool info(std::string_view text) {
    if (take(text, "Compiling entry function ")) begin_kernel(text);
    else if (take(text, "Function properties for ")) properties_of_ = find(trimmed(text));
    else if (take(text, "Used ")) usage(text);
    else if (!take(text, "Compile time = ")) return take_number(text) >= 0 && text.starts_with(" bytes ");  // of the module: "0 bytes gmem"
    return true;
  }

  void begin_kernel(std::string_view text) {  // '_Z1fPi' for 'sm_90a'
    KernelFacts kernel;
    kernel.symbol = quoted(text);
    kernel.name = demangled(kernel.symbol);
    const size_t target = text.find("' for '");
    if (target != std::string_view::npos) kernel.arch = quoted(text.substr(target + 6));
    if (const auto waiting = pending_.find(kernel.symbol); waiting != pending_.end()) {
      kernel.advisories = std::move(waiting->second);
      pending_.erase(waiting);
    }
    reading_.code.kernels.push_back(std::move(kernel));
    compiling_ = properties_of_ = static_cast<std::ptrdiff_t>(reading_.code.kernels.size()) - 1;
  }

  // "256 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads": of the function named last.
  bool frame(std::string_view text) {
    const int64_t stack = take_number(text);
    if (stack < 0 || !take(text, " bytes stack frame, ")) return false;
    const int64_t stores = take_number(text);
    if (!take(text, " bytes spill stores, ")) return false;
    const int64_t loads = take_number(text);
    if (!take(text, " bytes spill loads")) return false;
    if (properties_of_ >= 0) {
      KernelFacts& kernel = reading_.code.kernels[static_cast<size_t>(properties_of_)];
      kernel.stack_bytes = stack;
      kernel.spill_store_bytes = stores;
      kernel.spill_load_bytes = loads;
    }
    return true;
  }

  // "32 registers, used 1 barriers, 256 bytes cumulative stack size, 8192 bytes smem, 380 bytes cmem[0]": of the kernel that is being compiled.
  void usage(std::string_view text) {
    if (compiling_ < 0) return;
    KernelFacts& kernel = reading_.code.kernels[static_cast<size_t>(compiling_)];
    while (!text.empty()) {
      std::string_view part = trimmed(text.substr(0, text.find(',')));
      text.remove_prefix(std::min(text.find(',') == std::string_view::npos ? text.size() : text.find(',') + 1, text.size()));
      take(part, "used ");
      const int64_t number = take_number(part);
      if (number < 0) continue;
      part = trimmed(part);
      if (part == "registers") kernel.registers = static_cast<int>(number);
      else if (part == "barriers") kernel.barriers = static_cast<int>(number);
      else if (part == "bytes smem") kernel.shared_bytes = number;
      else if (part.starts_with("bytes cmem[")) kernel.constant_bytes += number;
    }
  }

  // "(C7510) Potential Performance Loss: ..." -> "C7510: Potential ..."
  void advise(std::string_view text) {
    const size_t close = text.find(')');
    const bool numbered = text.starts_with("(C") && close != std::string_view::npos;
    std::string advisory = numbered ? fmt::format("{}: {}", text.substr(1, close - 1), trimmed(text.substr(close + 1))) : std::string(text);
    if (const std::string_view function = function_of(text); !function.empty()) pending_[std::string(function)].push_back(std::move(advisory));
    else reading_.code.advisories.push_back(std::move(advisory));
  }

  void attribute(const std::string& symbol, std::string advisory) {
    const std::ptrdiff_t kernel = find(symbol);
    auto& list = kernel < 0 ? reading_.code.advisories : reading_.code.kernels[static_cast<size_t>(kernel)].advisories;
    list.push_back(std::move(advisory));
  }

  // The kernel of that name that was begun last, or -1: a function that is no kernel.
  std::ptrdiff_t find(std::string_view symbol) const {
    for (auto i = static_cast<std::ptrdiff_t>(reading_.code.kernels.size()) - 1; i >= 0; --i)
      if (reading_.code.kernels[static_cast<size_t>(i)].symbol == symbol) return i;
    return -1;
  }

  PtxasReading reading_;
  std::ptrdiff_t compiling_ = -1, properties_of_ = -1;
  std::map<std::string, std::vector<std::string>> pending_;  // by symbol: said before the kernel was begun, or after
};

}  // namespace

PtxasReading read_ptxas(const std::string& log) { return Reading().run(log); }

}  // namespace whet
