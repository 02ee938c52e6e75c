// SPDX-License-Identifier: Apache-2.0
#include "task/typed_header.h"

#include <fmt/format.h>

#include <array>
#include <set>
#include <string_view>

namespace whet {
namespace {

// Storage types: C has no name for the small floats, so they are their bits.
std::string_view c_type(Dtype dtype) {
  switch (dtype) {
    case Dtype::float64:
      return "double";
    case Dtype::float32:
      return "float";
    case Dtype::float16:
      return "whet_float16";
    case Dtype::bfloat16:
      return "whet_bfloat16";
    case Dtype::float8_e4m3fn:
      return "whet_float8_e4m3fn";
    case Dtype::float8_e5m2:
      return "whet_float8_e5m2";
    case Dtype::float4_e2m1:
      return "whet_float4_e2m1_pair";
    case Dtype::int64:
      return "whet_int64";
    case Dtype::int32:
      return "whet_int32";
    case Dtype::int16:
      return "whet_int16";
    case Dtype::int8:
      return "whet_int8";
    case Dtype::boolean:
      return "whet_bool8";
  }
  return "void";
}

constexpr std::string_view kBitTypes = R"(
#ifndef WHET_STORAGE_TYPES_
#define WHET_STORAGE_TYPES_
typedef unsigned short whet_float16;         /* IEEE binary16, as bits */
typedef unsigned short whet_bfloat16;        /* the upper half of a float, as bits */
typedef unsigned char whet_float8_e4m3fn;    /* as bits */
typedef unsigned char whet_float8_e5m2;      /* as bits */
typedef unsigned char whet_float4_e2m1_pair; /* two values, the first in the low half */
typedef unsigned char whet_bool8;            /* 0 or 1 */
typedef signed short whet_int16;
typedef signed char whet_int8;
#endif
)";

// What C99 or C++20 reserves, and the members that every struct of ours has.
bool is_taken(const std::string& name) {
  static const std::set<std::string> kTaken = {"alignas",
                                               "alignof",
                                               "and",
                                               "and_eq",
                                               "asm",
                                               "auto",
                                               "bitand",
                                               "bitor",
                                               "bool",
                                               "break",
                                               "case",
                                               "catch",
                                               "char",
                                               "char8_t",
                                               "char16_t",
                                               "char32_t",
                                               "class",
                                               "compl",
                                               "concept",
                                               "const",
                                               "consteval",
                                               "constexpr",
                                               "constinit",
                                               "const_cast",
                                               "continue",
                                               "co_await",
                                               "co_return",
                                               "co_yield",
                                               "decltype",
                                               "default",
                                               "delete",
                                               "do",
                                               "double",
                                               "dynamic_cast",
                                               "else",
                                               "enum",
                                               "explicit",
                                               "export",
                                               "extern",
                                               "false",
                                               "float",
                                               "for",
                                               "friend",
                                               "goto",
                                               "if",
                                               "inline",
                                               "int",
                                               "long",
                                               "mutable",
                                               "namespace",
                                               "new",
                                               "noexcept",
                                               "not",
                                               "not_eq",
                                               "nullptr",
                                               "operator",
                                               "or",
                                               "or_eq",
                                               "private",
                                               "protected",
                                               "public",
                                               "register",
                                               "reinterpret_cast",
                                               "requires",
                                               "restrict",
                                               "return",
                                               "short",
                                               "signed",
                                               "sizeof",
                                               "static",
                                               "static_assert",
                                               "static_cast",
                                               "struct",
                                               "switch",
                                               "template",
                                               "this",
                                               "thread_local",
                                               "throw",
                                               "true",
                                               "try",
                                               "typedef",
                                               "typeid",
                                               "typename",
                                               "union",
                                               "unsigned",
                                               "using",
                                               "virtual",
                                               "void",
                                               "volatile",
                                               "wchar_t",
                                               "while",
                                               "xor",
                                               "xor_eq",
                                               "linux",
                                               "unix",
                                               "num_threads",
                                               "workspace",
                                               "workspace_bytes",
                                               "stream"};
  return kTaken.contains(name) || name.starts_with("__") || name.starts_with("WHET_");
}

// "int" becomes "int_", and "int_" becomes "int__": different names stay different.
std::string field(const std::string& name) {
  const std::string stem = name.substr(0, name.find_last_not_of('_') + 1);
  return is_taken(name) || is_taken(stem) ? name + "_" : name;
}

std::string identifier(const std::string& name) {
  std::string out;
  for (char c : name) out += (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ? c : '_';
  return out.empty() || (out[0] >= '0' && out[0] <= '9') ? "op_" + out : out;
}

// Free text inside a C comment: one line, no end of comment, ASCII as it is.
std::string comment(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const unsigned char c = static_cast<unsigned char>(text[i]);
    if (c < 32 || c == 127) out += ' ';
    else if (c == '\\') out += '|';  // before a line's end it would splice, and hide what follows
    else if (c == '?' && i + 1 < text.size() && text[i + 1] == '?') out += ' ';  // trigraphs
    else if (c == '/' && !out.empty() && out.back() == '*') out += ' ';
    else if (c == '*' && !out.empty() && out.back() == '/') out += ' ';
    else out += static_cast<char>(c);
  }
  return out;
}

std::string shape_text(const TensorSpec& tensor) { return fmt::format("[{}]", fmt::join(*tensor.shape, ", ")); }

std::string tensor_field(const TensorSpec& tensor, bool output) {
  const bool writable = output || tensor.role == Role::inout;
  std::string note = shape_text(tensor) + " " + (output ? "output" : std::string(name_of(tensor.role)));
  if (!tensor.description.empty()) note += ": " + tensor.description;
  if (tensor.role == Role::weight || tensor.role == Role::plan) note += " (has data in prepare() too)";
  return fmt::format("  {}{}* {}; /* {} */\n", writable ? "" : "const ", c_type(tensor.dtype), field(tensor.name),
                     comment(note));
}

std::string scalar_reader(const TensorSpec& scalar, int index) {
  if (scalar.dtype == Dtype::boolean) return fmt::format("call->scalars[{}].i != 0", index);
  const bool real = is_float(scalar.dtype);
  const std::string_view type = real ? (scalar.dtype == Dtype::float64 ? "double" : "float") : c_type(scalar.dtype);
  return fmt::format("({})call->scalars[{}].{}", type, index, real ? "f" : "i");
}

}  // namespace

std::string typed_header(const Definition& definition) {
  const std::string name = identifier(definition.name), guard = "WHET_ARGS_" + name + "_H_";
  std::string fields, reads;
  int tensors = 0, scalars = 0, axes = 0;
  for (const auto* list : {&definition.inputs, &definition.outputs}) {
    for (const TensorSpec& tensor : *list) {
      if (tensor.is_scalar()) continue;
      const bool output = list == &definition.outputs;
      fields += tensor_field(tensor, output);
      const bool writable = output || tensor.role == Role::inout;
      reads += fmt::format("  args.{} = ({}{}*)call->tensors[{}].data;\n", field(tensor.name), writable ? "" : "const ",
                           c_type(tensor.dtype), tensors++);
    }
  }
  for (const Axis& axis : definition.axes) {
    std::string note = axis.value ? fmt::format("axis, always {}", *axis.value) : "axis";
    if (!axis.description.empty()) note += ": " + axis.description;
    fields += fmt::format("  whet_int64 {}; /* {} */\n", field(axis.name), comment(note));
    reads += fmt::format("  args.{} = call->axes[{}];\n", field(axis.name), axes++);
  }
  for (const TensorSpec& scalar : definition.inputs) {
    if (!scalar.is_scalar()) continue;
    const bool real = is_float(scalar.dtype);
    const std::string_view type = scalar.dtype == Dtype::boolean ? "int"
                                  : real                         ? (scalar.dtype == Dtype::float64 ? "double" : "float")
                                                                 : c_type(scalar.dtype);
    std::string note =
        "scalar " + std::string(name_of(scalar.dtype)) + (scalar.description.empty() ? "" : ": " + scalar.description);
    fields += fmt::format("  {} {}; /* {} */\n", type, field(scalar.name), comment(note));
    reads += fmt::format("  args.{} = {};\n", field(scalar.name), scalar_reader(scalar, scalars++));
  }
  fields +=
      "  int num_threads; /* how many threads may compute at once */\n"
      "  void* stream; /* a cudaStream_t on a GPU, null on a CPU */\n"
      "  void* workspace; /* zeroed before prepare(), kept between the runs of that plan */\n"
      "  whet_uint64 workspace_bytes;\n";
  reads +=
      "  args.num_threads = call->num_threads;\n  args.stream = call->stream;\n"
      "  args.workspace = call->workspace;\n  args.workspace_bytes = call->workspace_bytes;\n";
  std::string text = fmt::format(
      "/* {}: {}\n * Written by `whet header`; tensors are dense and row-major, aligned to 64 bytes. */\n",
      comment(definition.name), comment(definition.description.empty() ? definition.op_type : definition.description));
  text += fmt::format("#ifndef {0}\n#define {0}\n\n#include \"whet/candidate.h\"\n", guard);
  text += kBitTypes;
  text += fmt::format("\nstruct {}_args {{\n{}}};\n", name, fields);
  text += fmt::format(
      "\n/* Pointers without data in this call (all in workspace_bytes(), activations in prepare()) are null. */\n"
      "static inline struct {0}_args {0}_read(const WhetCall* call) {{\n  struct {0}_args args;\n{1}  return "
      "args;\n}}\n\n#endif\n",
      name, reads);
  return text;
}

}  // namespace whet
