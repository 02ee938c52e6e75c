// SPDX-License-Identifier: Apache-2.0
//
// landscape TASK_FOLDER FAMILY OUT.json [SECONDS]
// Measures every configuration of a family's choices in the task's start Solution, on every workload of the family in the set "full".
//
// The choices are compile-time constants of the Solution. Here they become variables, set between calls, so that one build serves
// all configurations; that is the same program only because the kernels get their configuration at run time anyway (families.h). Each
// sample is one call with the call's buffers flushed from the caches. Configurations are visited in a new random order in each pass,
// so that a slow minute of the machine does not fall on neighbours. A configuration whose first two samples are more than three times the
// best of its workload keeps those two. Stops after SECONDS (default 45) and goes on where it stopped when called again with the same OUT.json.
#include <dlfcn.h>
#include <emmintrin.h>
#include <time.h>
#if defined(__CLFLUSHOPT__)
#include <immintrin.h>
#endif

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <memory>
#include <random>

#include "base/file.h"
#include "base/json_impl.h"
#include "base/process.h"
#include "direction/agent/choices.h"
#include "task/load.h"
#include "whet/candidate.h"

namespace {

using namespace whet;
using Files = std::map<std::string, std::string>;
using SetChoice = int (*)(const char* name, int index);

double now_ns() {
  timespec t{};
  clock_gettime(CLOCK_MONOTONIC_RAW, &t);
  return static_cast<double>(t.tv_sec) * 1e9 + static_cast<double>(t.tv_nsec);
}

// ---- the Solution with its choices as variables

// The choice lines lose their constexpr; a new source sets them by name.
Files with_variables(Files files, const std::vector<Choice>& choices) {
  std::string header, cases;
  for (const Choice& choice : choices) {
    std::string& text = files[choice.file];
    header = choice.file;
    const std::size_t name = text.find(" " + choice.name + " = ");
    const std::size_t line = text.rfind('\n', name) + 1;
    const std::size_t at = text.find("constexpr ", line);
    if (at < name) text.erase(at, std::strlen("constexpr "));
    cases += fmt::format("  if (!std::strcmp(name, \"{0}\")) {{ const decltype({0}) v[] = {{{1}}}; {0} = v[i]; return 0; }}\n", choice.name,
                         fmt::join(choice.values, ", "));
  }
  files["set_choice.cc"] = fmt::format(
      "#include <cstring>\n#include \"{}\"\nnamespace start {{}}\nusing namespace start;\nextern \"C\" __attribute__((visibility(\"default\"))) int set_choice(const char* "
      "name, int i) {{\n{}  return 1;\n}}\n",
      header, cases);
  return files;
}

Expected<std::string> build(const Files& files, const Solution& solution, const std::filesystem::path& folder) {
  WHET_OK(write_tree(folder, files));
  ProcessSpec spec;
  spec.argv = {"g++", "-std=c++20", "-fPIC", "-shared", "-pthread", "-fvisibility=hidden", "-I" WHET_SOURCE_DIR "/include", "-I."};
  spec.argv.insert(spec.argv.end(), solution.cflags.begin(), solution.cflags.end());
  for (const auto& [path, text] : files)
    if (path.ends_with(".cc")) spec.argv.push_back(path);
  spec.argv.insert(spec.argv.end(), {"-o", "solution.so"});
  spec.working_directory = folder;
  WHET_TRY(const ProcessResult result, run_process(spec));
  if (!result.ok()) return bad_input("{}", result.describe(spec.argv));
  return (folder / "solution.so").string();
}

// ---- one workload's call

struct Aligned {
  void operator()(void* p) const { std::free(p); }
};
using Buffer = std::unique_ptr<char, Aligned>;
Buffer allocate(std::size_t bytes) {
  Buffer buffer(static_cast<char*>(std::aligned_alloc(64, (bytes + 63) / 64 * 64 + 64)));
  std::memset(buffer.get(), 0, bytes);
  return buffer;
}

WhetDtype dtype_code(Dtype dtype) {
  if (dtype == Dtype::bfloat16) return {WHET_DTYPE_BFLOAT, 16, 1};
  return {WHET_DTYPE_FLOAT, static_cast<whet_uint8>(8 * size_of(dtype)), 1};
}

struct Bench {
  const Workload* workload = nullptr;
  std::vector<Buffer> buffers;
  std::vector<std::size_t> sizes;
  std::vector<std::vector<whet_int64>> shapes;
  std::vector<WhetTensor> tensors;
  std::vector<whet_int64> axes;
  std::vector<WhetScalar> scalars;
  WhetCall call{};
  const WhetEntry* entry = nullptr;

  void flush() {
    for (std::size_t b = 0; b < buffers.size(); ++b)
      for (std::size_t i = 0; i < sizes[b]; i += 64) {
#if defined(__CLFLUSHOPT__)
        _mm_clflushopt(buffers[b].get() + i);
#else
        _mm_clflush(buffers[b].get() + i);
#endif
      }
    _mm_mfence();
  }
};

void fill(char* to, Dtype dtype, std::size_t count, double scale, uint64_t seed) {
  std::mt19937_64 generator(seed);
  std::normal_distribution<float> normal(0, static_cast<float>(scale));
  for (std::size_t i = 0; i < count; ++i) {
    const float value = normal(generator);
    uint32_t bits = 0;
    std::memcpy(&bits, &value, 4);
    if (dtype == Dtype::float32) std::memcpy(to + 4 * i, &bits, 4);
    const auto upper = static_cast<uint16_t>(bits >> 16);
    if (dtype == Dtype::bfloat16) std::memcpy(to + 2 * i, &upper, 2);
  }
}

WhetScalar scalar_of(const InputSource& source) {
  if (const auto* i = std::get_if<int64_t>(&source.scalar)) return {WHET_SCALAR_INT, 0, *i, static_cast<double>(*i)};
  if (const auto* d = std::get_if<double>(&source.scalar)) return {WHET_SCALAR_FLOAT, 0, static_cast<whet_int64>(*d), *d};
  const bool b = std::get<bool>(source.scalar);
  return {WHET_SCALAR_BOOL, 0, b, double(b)};
}

std::unique_ptr<Bench> make_bench(const Definition& definition, const Workload& workload, const WhetSolution& solution) {
  auto bench = std::make_unique<Bench>();
  bench->workload = &workload;
  const auto values = axis_values(definition, workload.axes);
  bench->axes.assign(values.begin(), values.end());
  const auto add = [&](const TensorSpec& spec, double scale) {
    const auto shape = shape_of(definition, spec, workload.axes);
    const auto count = static_cast<std::size_t>(element_count(shape));
    bench->sizes.push_back(count * static_cast<std::size_t>(size_of(spec.dtype)));
    bench->buffers.push_back(allocate(bench->sizes.back()));
    fill(bench->buffers.back().get(), spec.dtype, count, scale, bench->buffers.size());
    bench->shapes.emplace_back(shape.begin(), shape.end());
    WhetTensor tensor{};
    tensor.data = bench->buffers.back().get();
    tensor.device = {WHET_DEVICE_CPU, 0};
    tensor.ndim = static_cast<whet_int32>(shape.size());
    tensor.dtype = dtype_code(spec.dtype);
    bench->tensors.push_back(tensor);
  };
  for (const TensorSpec& input : definition.inputs) {
    const InputSource& source = workload.inputs.at(input.name);
    if (input.is_scalar())
      bench->scalars.push_back(scalar_of(source));
    else
      add(input, source.recipe.scale);
  }
  const auto inputs = bench->tensors.size();
  for (const TensorSpec& output : definition.outputs) add(output, 1);
  for (std::size_t i = 0; i < bench->tensors.size(); ++i) bench->tensors[i].shape = bench->shapes[i].data();
  WhetCall& call = bench->call;
  call.struct_bytes = sizeof(WhetCall);
  call.num_tensors = static_cast<whet_int32>(bench->tensors.size());
  call.num_inputs = static_cast<whet_int32>(inputs);
  call.num_axes = static_cast<whet_int32>(bench->axes.size());
  call.num_scalars = static_cast<whet_int32>(bench->scalars.size());
  call.num_threads = 2;
  call.tensors = bench->tensors.data();
  call.axes = bench->axes.data();
  call.scalars = bench->scalars.data();
  for (whet_uint32 e = 0; e < solution.num_entries; ++e)
    if (definition.name == solution.entries[e].definition) bench->entry = &solution.entries[e];
  return bench;
}

// Times of `calls` flushed calls after one that does not count; two calls altogether when both take longer than `hopeless_ns`.
std::vector<double> measure(Bench& bench, int calls, double hopeless_ns) {
  WhetCall& call = bench.call;
  whet_uint64 bytes = 0;
  if (bench.entry->workspace_bytes) bench.entry->workspace_bytes(&call, &bytes);
  const Buffer workspace = allocate(bytes);
  call.workspace = workspace.get();
  call.workspace_bytes = bytes;
  void* state = nullptr;
  if (bench.entry->prepare) bench.entry->prepare(&call, &state);
  const auto once = [&] {
    bench.flush();
    const double from = now_ns();
    if (bench.entry->run(&call, state) != 0) std::abort();
    return now_ns() - from;
  };
  std::vector<double> times = {once(), once()};
  if (std::ranges::min(times) <= hopeless_ns) {
    times.erase(times.begin());  // it met cold code and pages
    while (static_cast<int>(times.size()) < calls) times.push_back(once());
  }
  if (bench.entry->destroy) bench.entry->destroy(state);
  return times;
}

// ---- the landscape and its file

struct Landscape {
  std::string task, family, machine;
  std::vector<Choice> choices;
  std::vector<std::string> workloads;
  std::vector<std::vector<std::vector<double>>> samples;  // [configuration][workload]; the last choice varies fastest
  int passes = 0;
};

Json to_json(const Landscape& landscape) {
  Json json;
  json["task"] = landscape.task;
  json["family"] = landscape.family;
  json["machine"] = landscape.machine;
  json["passes"] = landscape.passes;
  for (const Choice& choice : landscape.choices) json["choices"].push_back({{"name", choice.name}, {"values", choice.values}, {"start", choice.value}});
  json["workloads"] = landscape.workloads;
  Json rows = Json::array();
  for (const auto& configuration : landscape.samples) {
    Json row = Json::array();
    for (const auto& samples : configuration) {
      Json numbers = Json::array();
      for (double ns : samples) numbers.push_back(static_cast<int64_t>(ns));
      row.push_back(std::move(numbers));
    }
    rows.push_back(std::move(row));
  }
  json["ns"] = std::move(rows);
  return json;
}

std::string machine_name() {
  auto info = read_file("/proc/cpuinfo");
  if (!info) return "unknown";
  const std::size_t at = info->find("model name");
  const std::size_t colon = info->find(": ", at);
  return at == std::string::npos ? "unknown" : info->substr(colon + 2, info->find('\n', colon) - colon - 2);
}

Status record(const std::string& task_folder, const std::string& family, const std::string& out, double seconds) {
  WHET_TRY(const Files task_files, read_tree(task_folder));
  WHET_TRY(const Task task, load_task(task_files, ""));
  const Files start = solution_files(task_files, task.start);
  WHET_TRY(const std::vector<Choice> all, parse_choices(start));
  Landscape landscape{.task = task.name, .family = family, .machine = machine_name()};
  std::ranges::copy_if(all, std::back_inserter(landscape.choices), [&](const Choice& choice) { return choice.family == family; });
  if (landscape.choices.empty()) return bad_input("the start Solution has no choices for family '{}'", family);
  std::size_t size = 1;
  for (const Choice& choice : landscape.choices) size *= choice.values.size();

  WHET_TRY(const TemporaryDirectory folder, TemporaryDirectory::make("landscape"));
  WHET_TRY(const std::string library, build(with_variables(start, landscape.choices), task.solutions.at(task.start), folder.path()));
  void* handle = dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!handle) return machine_failed("{}", dlerror());
  const auto set_choice = reinterpret_cast<SetChoice>(dlsym(handle, "set_choice"));
  const auto solution = reinterpret_cast<const WhetSolution* (*)()>(dlsym(handle, "whet_solution_v1"))();

  std::vector<std::unique_ptr<Bench>> benches;
  for (const Workload* workload : task.set("full"))
    if (workload->family == family) {
      benches.push_back(make_bench(*task.definition(workload->definition), *workload, *solution));
      landscape.workloads.push_back(workload->name);
    }
  landscape.samples.assign(size, std::vector<std::vector<double>>(benches.size()));
  if (std::filesystem::exists(out)) {
    WHET_TRY(const std::string text, read_file(out));
    WHET_TRY(const Json old, parse_json(text, out));
    landscape.passes = old["passes"].get<int>();
    landscape.samples = old["ns"].get<std::vector<std::vector<std::vector<double>>>>();
  }
  std::vector<double> best(benches.size(), 1e300);
  for (const auto& row : landscape.samples)
    for (std::size_t w = 0; w < row.size(); ++w)
      for (double ns : row[w]) best[w] = std::min(best[w], ns);

  // A pass visits what has fewest samples first, in random order.
  const double end = now_ns() + seconds * 1e9;
  std::mt19937_64 shuffle(static_cast<uint64_t>(end));
  std::vector<std::size_t> order(size);
  for (std::size_t i = 0; i < size; ++i) order[i] = i;
  std::ranges::shuffle(order, shuffle);
  std::ranges::stable_sort(order, {}, [&](std::size_t i) {
    std::size_t most = 0;  // a hopeless workload has two samples for ever
    for (const auto& samples : landscape.samples[i]) most = std::max(most, samples.size());
    return most;
  });
  std::size_t visited = 0;
  for (std::size_t i : order) {
    if (now_ns() > end) break;
    std::size_t rest = i;
    for (std::size_t f = landscape.choices.size(); f-- > 0;) {
      const Choice& choice = landscape.choices[f];
      if (set_choice(choice.name.c_str(), static_cast<int>(rest % choice.values.size())) != 0) std::abort();
      rest /= choice.values.size();
    }
    for (std::size_t w = 0; w < benches.size(); ++w) {
      auto& samples = landscape.samples[i][w];
      if (samples.size() == 2 && std::ranges::min(samples) > 3 * best[w]) continue;
      const std::vector<double> times = measure(*benches[w], 4, 3 * best[w]);
      samples.insert(samples.end(), times.begin(), times.end());
      best[w] = std::min(best[w], std::ranges::min(times));
    }
    ++visited;
  }
  if (visited == size) ++landscape.passes;
  std::printf("%zu of %zu configurations visited, %d whole passes\n", visited, size, landscape.passes);
  return write_file_atomically(out, to_json(landscape).dump() + "\n");
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 4) {
    std::fprintf(stderr, "usage: landscape TASK_FOLDER FAMILY OUT.json [SECONDS]\n");
    return 2;
  }
  const Status status = record(argv[1], argv[2], argv[3], argc > 4 ? std::atof(argv[4]) : 45);
  if (!status) std::fprintf(stderr, "landscape: %s\n", status.error().what.c_str());
  return status ? 0 : 3;
}
