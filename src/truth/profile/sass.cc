// SPDX-License-Identifier: Apache-2.0
#include "truth/profile/sass.h"

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <set>

#include "base/demangle.h"

namespace whet {
namespace {

constexpr std::size_t kMostLocalLines = 40;

std::string_view trimmed(std::string_view text) {
  const auto first = text.find_first_not_of(" \t\r\n");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t\r\n") - first + 1);
}

std::string_view next_line(std::string_view& text) {
  const auto end = std::min(text.find('\n'), text.size());
  const std::string_view line = text.substr(0, end);
  text.remove_prefix(std::min(end + 1, text.size()));
  return line;
}

// "/*0050*/   @P0 BRA `(.L_x_2) ;   /* 0x... */" -> "@P0 BRA `(.L_x_2)"; empty when the line holds no instruction.
std::string_view instruction_in(std::string_view line) {
  line = trimmed(line);
  if (!line.starts_with("/*")) return {};
  const auto close = line.find("*/");
  if (close == std::string_view::npos || close > 12) return {};  // an offset; the longer ones are encodings
  for (char c : line.substr(2, close - 2))
    if (!std::isxdigit(static_cast<unsigned char>(c))) return {};
  line.remove_prefix(close + 2);
  return trimmed(line.substr(0, line.find(';')));
}

// "@!UP0 UTMALDG.2D [UR8], [UR4]" -> "UTMALDG.2D"
std::string_view opcode_of(std::string_view instruction) {
  if (instruction.starts_with("{")) instruction = trimmed(instruction.substr(1));
  if (instruction.starts_with("@")) {
    const auto blank = instruction.find(' ');
    if (blank == std::string_view::npos) return {};
    instruction = trimmed(instruction.substr(blank));
  }
  const std::string_view opcode = instruction.substr(0, instruction.find_first_of(" \t"));
  if (opcode.empty() || !std::isupper(static_cast<unsigned char>(opcode.front()))) return {};
  return opcode;
}

// The function whose lines are being read.
class Reading {
 public:
  void architecture(std::string_view name) { architecture_ = name; }
  void begin(std::string_view symbol) {
    current_ = nullptr;
    if (symbol.empty() || !seen_.insert(std::string(symbol) + "\n" + architecture_).second) return;
    current_ = &kernels_.emplace_back();
    current_->symbol = symbol;
    current_->name = demangled(current_->symbol);
    current_->architecture = architecture_;
  }
  void add(std::string_view instruction) {
    const std::string_view opcode = opcode_of(instruction);
    if (!current_ || opcode.empty() || opcode == "NOP") return;
    ++current_->instructions;
    ++current_->opcodes[std::string(opcode)];
    const std::string_view kind = class_of(opcode);
    ++current_->classes[std::string(kind)];
    if (kind == "local memory" && current_->local_memory.size() < kMostLocalLines) current_->local_memory.emplace_back(instruction);
  }
  std::vector<SassKernel> take() { return std::move(kernels_); }

 private:
  std::string architecture_;
  std::vector<SassKernel> kernels_;
  SassKernel* current_ = nullptr;
  std::set<std::string> seen_;
};

// ".text._Z3foo" of nvdisasm's "\t.section\t.text._Z3foo,"ax",@progbits".
std::string_view section_symbol(std::string_view line) {
  constexpr std::string_view kText = ".text.";
  const auto at = line.find(kText);
  if (!line.starts_with(".section") || at == std::string_view::npos) return {};
  line.remove_prefix(at + kText.size());
  return line.substr(0, line.find(','));
}

int64_t number_behind(std::string_view line, std::string_view key) {
  const auto at = line.find(key);
  if (at == std::string_view::npos) return -1;
  int64_t number = -1;
  for (char c : line.substr(at + key.size())) {
    if (c < '0' || c > '9' || number > (int64_t{1} << 48)) break;
    number = (number < 0 ? 0 : number) * 10 + (c - '0');
  }
  return number;
}

}  // namespace

std::vector<SassKernel> parse_sass(std::string_view text) {
  Reading reading;
  while (!text.empty()) {
    const std::string_view raw = next_line(text), line = trimmed(raw);
    if (const std::string_view instruction = instruction_in(line); !instruction.empty()) reading.add(instruction);
    else if (line.starts_with("code for ")) reading.architecture(line.substr(9));
    else if (line.starts_with(".target")) reading.architecture(trimmed(line.substr(7)));
    else if (line.starts_with("Function : ")) reading.begin(trimmed(line.substr(11)));
    else if (const std::string_view symbol = section_symbol(line); !symbol.empty()) reading.begin(symbol);
  }
  return reading.take();
}

void add_resource_usage(std::vector<SassKernel>& kernels, std::string_view text) {
  std::string_view symbol;
  while (!text.empty()) {
    const std::string_view line = trimmed(next_line(text));
    if (line.starts_with("Function ") && line.ends_with(":")) symbol = line.substr(9, line.size() - 10);
    if (!line.starts_with("REG:")) continue;
    for (SassKernel& kernel : kernels)
      if (kernel.symbol == symbol) {
        kernel.registers = number_behind(line, "REG:");
        kernel.stack_bytes = number_behind(line, "STACK:");
        kernel.shared_bytes = number_behind(line, "SHARED:");
      }
  }
}

Error disassembler_failure(int exit_code, std::string_view complaints) {
  if (complaints.find("does not contain device code") != std::string_view::npos)
    return {"the built library has no device code: there is nothing to disassemble (a Solution for the CPU, or its kernels are never instantiated)", Blame::input};
  std::string_view last = trimmed(complaints);
  if (const auto line = last.rfind('\n'); line != std::string_view::npos) last.remove_prefix(line + 1);
  return {fmt::format("cuobjdump: exit code {}: {}", exit_code, last.substr(0, 300)), Blame::machine};
}

}  // namespace whet
