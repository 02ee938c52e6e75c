// SPDX-License-Identifier: Apache-2.0
#include "task/new_task.h"

#include "record/keys.h"

namespace whet {
namespace {

constexpr std::string_view kToml =
    R"TOML(# A task: an operator, the shapes that matter, what to beat, and a first candidate.
#
#   definitions/NAME.json     what is computed (FlashInfer Trace "Definition": axes, inputs, outputs, a Python reference)
#   workloads/NAME.jsonl      on which shapes, one a line (FlashInfer Trace, workload only); what is Whet's own stands under "whet"
#   solutions/NAME/           code with its solution.json: the reference, the baselines and the start
#
# `whet task check FOLDER` says everything that is wrong with it at once; `whet task show FOLDER` prints it.

name = "@NAME@"
title = "Scale and add on vectors (float32)"
target = "cpu"
definitions = ["scale_add_f32"]

reference = "reference"  # computes the expected outputs, more precisely than a candidate needs to
baselines = ["simple"]   # what a candidate is compared with
start = "start"          # the first candidate

# Globs below the candidate's folder: the only files that are taken from an author.
editable = ["choices.h", "*.cc", "*.h"]

rules = [
  "Compute y[i] = scale * x[i] + b[i] from the inputs of this call, for any n in the range.",
  "Use at most call->num_threads threads, and leave none running when run() returns.",
]

[goal]
metric = "geomean_vs_fastest"  # baseline time / candidate time, geometric mean over the set
value = 1.05

# An element passes if |got - want| <= rtol * |want| + atol * rms(want), with rms over what is not exactly zero; a tensor also needs |got - want| <= norm * |want|.
[tolerance]
policy = "A few roundings of float32."
float32 = { rtol = 1e-6, atol = 1e-6, norm = 1e-6 }

# Hidden workloads are drawn from here: a list of values, or an interval with both ends.
[ranges]
n = { min = 1, max = 4194304 }
scale = { min = 0.5, max = 4.0 }

[sets]
full = "all workloads; what a score is stated for"
smoke = "the smallest: does it build, run and compute the right thing?"
)TOML";

constexpr std::string_view kDefinition = R"JSON({
  "name": "scale_add_f32",
  "op_type": "elementwise",
  "description": "y = scale * x + b, element by element; float32.",
  "axes": {"n": {"type": "var", "description": "elements"}},
  "inputs": {
    "x": {"shape": ["n"], "dtype": "float32", "description": "what is scaled"},
    "b": {"shape": ["n"], "dtype": "float32", "description": "what is added"},
    "scale": {"shape": null, "dtype": "float32", "description": "a scalar, passed by value on the host"}
  },
  "outputs": {"y": {"shape": ["n"], "dtype": "float32"}},
  "reference": "def run(x, b, scale):\n    return (scale * x.double() + b.double()).float()\n",
  "whet": {"roles": {"x": "activation", "b": "activation"}, "nan": "forbid"}
}
)JSON";

constexpr std::string_view kWorkload =
    R"JSON({"definition": "scale_add_f32", "workload": {"uuid": "scale_add_f32-@N@", "axes": {"n": @N@}, "inputs": {"x": {"type": "random"}, "b": {"type": "random"}, "scale": {"type": "scalar", "value": 1.5}}, "whet": {"name": "@WORD@", "family": "@FAMILY@", "sets": [@SETS@], "recipes": {"x": {"kind": "normal", "scale": 1}, "b": {"kind": "uniform", "low": -1, "high": 1}}, "floor": {"flops": @FLOPS@, "bytes": @BYTES@}}}, "solution": null, "evaluation": null}
)JSON";

constexpr std::string_view kSolution = R"JSON({
  "name": "@NAME@",
  "author": "whet",
  "description": "@TEXT@",
  "definition": "scale_add_f32",
  "spec": {
    "language": "cpp",
    "target_hardware": ["cpu"],
    "entry_point": "entry.cc::whet_solution_v1",
    "dependencies": [],
    "destination_passing_style": true,
    "binding": "whet",
    "compile_options": {"cflags": [@FLAGS@], "ld_flags": []}
  },
  "sources": [@SOURCES@],
  "whet": {"definitions": ["scale_add_f32"]}
}
)JSON";

// (The delimiter is not CPP, which clang-format would lay out anew.) Tensors come in the Definition's order (x, b, y), axes and scalars likewise: `whet header` writes a struct with these names.
constexpr std::string_view kEntry = R"SRC(// @TEXT@
@INCLUDES@#include "whet/candidate.h"

namespace {

whet_int32 run(const WhetCall* call, void*) {
  const whet_int64 n = call->axes[0];
  const auto* x = static_cast<const float*>(call->tensors[0].data);
  const auto* b = static_cast<const float*>(call->tensors[1].data);
  auto* y = static_cast<float*>(call->tensors[2].data);
@BODY@  return 0;
}

// {definition, workspace_bytes, prepare, run, destroy}; what is not needed is null.
constexpr WhetEntry kEntries[] = {{"scale_add_f32", nullptr, nullptr, run, nullptr}};
constexpr WhetSolution kTable = {WHET_ABI_VERSION, 1, kEntries};

}  // namespace

extern "C" WHET_EXPORT const WhetSolution* whet_solution_v1(void) { return &kTable; }
)SRC";

constexpr std::string_view kChoices =
    R"SRC(// What the tuner may change without understanding the code: one line a choice, its range beside it.
#pragma once

inline constexpr int kFromMemoryThreads = 1;  // whet:tune {1, 2} family=from_memory
)SRC";

constexpr std::string_view kReferenceBody = R"SRC(  const double scale = call->scalars[0].f;
  for (whet_int64 i = 0; i < n; ++i) y[i] = static_cast<float>(scale * x[i] + b[i]);
)SRC";
constexpr std::string_view kSimpleBody = R"SRC(  const float scale = static_cast<float>(call->scalars[0].f);
  for (whet_int64 i = 0; i < n; ++i) y[i] = scale * x[i] + b[i];
)SRC";
constexpr std::string_view kStartBody = R"SRC(  const float scale = static_cast<float>(call->scalars[0].f);
  // What fits into a cache is done before a second thread has begun.
  const int threads = n < (1 << 20) ? 1 : std::min(kFromMemoryThreads, static_cast<int>(call->num_threads));
#pragma omp parallel for num_threads(threads) schedule(static) if (threads > 1)
  for (whet_int64 i = 0; i < n; ++i) y[i] = scale * x[i] + b[i];
)SRC";

std::string filled(std::string_view text, const std::map<std::string, std::string>& words) {
  std::string out(text);
  for (const auto& [word, value] : words) {
    const std::string mark = "@" + word + "@";
    for (std::size_t at = out.find(mark); at != std::string::npos; at = out.find(mark, at + value.size()))
      out.replace(at, mark.size(), value);
  }
  return out;
}

std::string workload(const std::string& name, const std::string& family, const std::string& sets, int64_t n) {
  return filled(kWorkload, {{"WORD", name},
                            {"FAMILY", family},
                            {"SETS", sets},
                            {"N", std::to_string(n)},
                            {"FLOPS", std::to_string(2 * n)},
                            {"BYTES", std::to_string(12 * n)}});
}

void add_solution(TaskFiles& files, const std::string& name, const std::string& text, std::string_view body,
                  const std::string& flags, bool choices) {
  const std::string folder = "solutions/" + name + "/";
  files[folder + "solution.json"] = filled(
      kSolution,
      {{"NAME", name}, {"TEXT", text}, {"FLAGS", flags}, {"SOURCES", choices ? R"("*.h", "*.cc")" : R"("*.cc")"}});
  const std::string includes = choices ? "#include <algorithm>\n\n#include \"choices.h\"\n" : "";
  files[folder + "entry.cc"] = filled(kEntry, {{"TEXT", text}, {"INCLUDES", includes}, {"BODY", std::string(body)}});
  if (choices) files[folder + "choices.h"] = kChoices;
}

}  // namespace

Expected<TaskFiles> new_task(const std::string& name) {
  if (!is_plain_name(name))
    return bad_input(
        "\"{}\": the name of a task has letters, digits and . _ + = - only, and starts with a letter or digit", name);
  TaskFiles files;
  files["task.toml"] = filled(kToml, {{"NAME", name}});
  files["definitions/scale_add_f32.json"] = kDefinition;
  files["workloads/scale_add_f32.jsonl"] = workload("tiny", "in_cache", R"("full", "smoke")", 1000) +
                                           workload("cached", "in_cache", R"("full")", 32768) +
                                           workload("streamed", "from_memory", R"("full")", 2097152);
  add_solution(files, "reference", "In double precision: the expected values.", kReferenceBody, R"("-O2")", false);
  add_solution(files, "simple", "The loop as one writes it for a vectorising compiler.", kSimpleBody,
               R"("-O3", "-march=native")", false);
  add_solution(files, "start", "A first draft with one declared choice.", kStartBody,
               R"("-O3", "-march=native", "-fopenmp")", true);
  return files;
}

}  // namespace whet
