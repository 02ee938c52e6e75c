// SPDX-License-Identifier: Apache-2.0
//
// The Solutions of tasks/attention-hopper on a GPU, without the judge:
//
//   attention_hopper --task DIR --small FILE --reference A.so --start B.so [--set NAME] [--skip N] [--calibrate] [--f64 all] > RESULTS.jsonl
//
//   1. reference (float32 and float64 entries) and start against the CPU on the small shapes of FILE
//   2. every scenario of the set: start against the float32 reference, twice; the float32 against the float64 one on every eighth
//   3. --calibrate: the reference on rounded inputs, and with each float input drawn anew, against itself: both must fail the tolerance
//
// One line of JSON per check. Exit code 0: all passed; 1: one failed; 3: the device context was lost (restart with --skip); 77: no GPU.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <numeric>

#include "compare.h"
#include "cpu_attention.h"
#include "solution.h"

namespace hopper {
namespace {

struct Options {
  std::string task, small, reference, start, set = "full";
  int skip = 0;
  bool calibrate = false, all_f64 = false;
};

int failures = 0;

// `limit`: what the norm error may be; the element-wise bound is in the Difference.
void report(const char* check, const Scenario& s, int index, const Difference& d, double limit, const std::string& error, const std::string& more, bool expected = true) {
  const bool passes = error.empty() && d.passes(limit);
  if (passes != expected) ++failures;
  std::string at;
  if (d.first >= 0) {
    long long rest = d.first;
    const auto& shape = s.tensors.back().shape;
    for (std::size_t i = shape.size(); i-- > 0; rest /= std::max<long long>(1, shape[i])) at = std::to_string(rest % std::max<long long>(1, shape[i])) + (at.empty() ? "" : "," + at);
  }
  std::printf("{\"check\": \"%s\", \"index\": %d, \"name\": \"%s\", \"family\": \"%s\", \"definition\": \"%s\", \"ok\": %s, \"bound\": %.4g, \"norm\": %.4g, \"norm_limit\": %.4g, "
              "\"failing\": %lld, \"not_finite\": %lld, \"first\": \"%s\", \"got\": \"%g\", \"want\": \"%g\", \"rms\": %.4g, \"error\": \"%s\"%s}\n",
              check, index, s.name.c_str(), s.family.c_str(), s.definition.c_str(), passes == expected ? "true" : "false", std::isfinite(d.bound) ? d.bound : -1.0,
              std::isfinite(d.norm) ? d.norm : -1.0, limit, d.failing, d.not_finite, at.c_str(), d.got, d.want, d.rms, error.c_str(), more.c_str());
  std::fflush(stdout);
}

class Flush {
 public:
  Flush() { must(cudaMalloc(&memory_, kBytes), "cudaMalloc"); }
  void operator()() { must(cudaMemsetAsync(memory_, 0, kBytes, nullptr), "flushing the cache"); }

 private:
  static constexpr std::size_t kBytes = std::size_t{256} << 20;
  void* memory_ = nullptr;
};

// Microseconds of each of `count` calls with cold caches. The first is not counted: it loads the kernel.
double median_us(Prepared& call, int count, Flush& flush) {
  static cudaEvent_t begin = nullptr, end = nullptr;
  if (!begin) must(cudaEventCreate(&begin), "event"), must(cudaEventCreate(&end), "event");
  std::vector<float> times;
  for (int i = 0; i < count; ++i) {
    flush();
    cudaEventRecord(begin);
    if (!call.run()) return 0;
    cudaEventRecord(end);
    must(cudaEventSynchronize(end), "timing");
    float ms = 0;
    cudaEventElapsedTime(&ms, begin, end);
    times.push_back(1000 * ms);
  }
  std::sort(times.begin(), times.end());
  return times[times.size() / 2];
}

// NaN in every output format: an element that is not written shows.
void poison(void* output, long long bytes) { must(cudaMemset(output, 0xff, static_cast<std::size_t>(bytes)), "poisoning"); }

void draw_all(const Scenario& s, unsigned long long seed) {
  for (const Tensor& tensor : s.tensors)
    if (!tensor.output) draw(s, tensor, seed);
}

float* device_floats(long long count) {
  float* data = nullptr;
  must(cudaMalloc(&data, static_cast<std::size_t>(4 * count + 256)), "cudaMalloc");
  return data;
}

std::string run_once(const Solution& solution, const std::string& entry, const Scenario& s, void* output, Type type) {
  poison(output, s.tensors.back().count * size_of(type));
  Prepared call(solution, entry, s, output, type);
  call.run();
  const cudaError_t error = cudaDeviceSynchronize();
  if (error != cudaSuccess) {
    std::fprintf(stderr, "%s %s: %s\n", entry.c_str(), s.name.c_str(), cudaGetErrorString(error));
    std::exit(kDeviceLost);
  }
  return call.error();
}

void check_small(const Solution& reference, const Solution& start, Scenario& s, int index) {
  allocate(s);
  draw_all(s, 7);
  const std::vector<float> exact = attention_on_cpu(s);
  const long long count = s.output().count;
  float *want = device_floats(count), *got = device_floats(count);
  must(cudaMemcpy(want, exact.data(), exact.size() * 4, cudaMemcpyHostToDevice), "cudaMemcpy");
  for (const char* suffix : {"", ".f64"}) {
    const bool f64 = *suffix != '\0';
    const double limit = f64 ? 1e-6 : 2e-5;
    const std::string error = run_once(reference, s.definition + suffix, s, got, Type::f32);
    report(f64 ? "small_f64" : "small_f32", s, index, compare(got, Type::f32, want, count, limit, limit), limit, error, "");
  }
  const std::string error = run_once(start, s.definition, s, s.output().data, s.output().type);
  report("small_start", s, index, compare(s.output().data, s.output().type, want, count, s.rtol, s.atol), s.norm, error, "");
  cudaFree(want);
  cudaFree(got);
  release(s);
}

void calibrate(const Solution& reference, Scenario& s, int index, const float* right, float* wrong) {
  const long long count = s.output().count;
  const auto against = [&](const char* check, bool must_fail) {
    const std::string error = run_once(reference, s.definition, s, wrong, Type::f32);
    const Difference d = compare(wrong, Type::f32, right, count, s.rtol, s.atol);
    // An input that cannot matter (one key: the output is its value) leaves the reference as it was.
    report(check, s, index, d, s.norm, error, "", !must_fail || d.norm == 0);
  };
  for (const Tensor& tensor : s.tensors)
    if (!tensor.output) round_down(tensor);
  against("lower_precision", true);
  for (const Tensor& tensor : s.tensors) {
    if (tensor.output || tensor.type == Type::i32) continue;
    draw_all(s, 1);
    draw(s, tensor, 2);
    against(("ignores_" + tensor.name).c_str(), true);
  }
}

void check_scenario(const Options& options, const Solution& reference, const Solution& start, Scenario& s, int index, Flush& flush) {
  allocate(s);
  draw_all(s, 1);
  const long long count = s.output().count;
  float *want = device_floats(count), *other = device_floats(count);
  poison(want, 4 * count);
  std::string error;
  double reference_us = 0;
  {
    Prepared call(reference, s.definition, s, want, Type::f32);
    reference_us = median_us(call, 1, flush);
    error = call.error();
  }
  if (options.all_f64 || index % 8 == 0) {
    const std::string error64 = run_once(reference, s.definition + ".f64", s, other, Type::f32);
    report("f32_against_f64", s, index, compare(want, Type::f32, other, count, 2e-4, 2e-4), 2e-5, error64, "");
  }
  Tensor& out = s.output();
  poison(out.data, out.bytes());
  Prepared call(start, s.definition, s, out.data, out.type);
  call.run();
  const cudaError_t lost = cudaDeviceSynchronize();
  if (lost != cudaSuccess) {
    report("start", s, index, {}, 0, cudaGetErrorString(lost), "");
    std::exit(kDeviceLost);
  }
  const Difference first = compare(out.data, out.type, want, count, s.rtol, s.atol);
  poison(out.data, out.bytes());
  const double us = median_us(call, s.flops > 2e12 ? 3 : 7, flush);
  const Difference last = compare(out.data, out.type, want, count, s.rtol, s.atol);  // of a plan that has run before
  char more[200];
  std::snprintf(more, sizeof more, ", \"us\": %.3f, \"reference_us\": %.1f, \"flops\": %.6g, \"bytes\": %.6g, \"workspace\": %llu, \"again\": %s", us, reference_us, s.flops, s.bytes,
                static_cast<unsigned long long>(call.workspace_bytes()), last.passes(s.norm) ? "true" : "false");
  if (!last.passes(s.norm)) ++failures;
  report("start", s, index, first, s.norm, error.empty() ? call.error() : error, more);
  if (options.calibrate) calibrate(reference, s, index, want, other);
  cudaFree(want);
  cudaFree(other);
  release(s);
}

int run(const Options& options) {
  static const std::vector<std::string> kDefinitions = {
      "attention_dense_bf16", "attention_dense_fp16", "attention_dense_e4m3", "attention_dense_bf16_sink", "attention_dense_bf16_leftpad", "attention_varlen_bf16",
      "attention_varlen_e4m3", "attention_paged_bf16", "attention_paged_e4m3", "attention_paged_bf16_kve4m3", "attention_paged_bf16_sink", "attention_paged_bf16_mla"};
  const auto definitions = read_definitions(options.task, kDefinitions);
  const Solution reference(options.reference), start(options.start);
  int index = 0;
  for (Scenario& s : read_scenarios(options.small, definitions)) {
    if (index >= options.skip) check_small(reference, start, s, index);
    ++index;
  }
  Flush flush;
  for (const std::string& name : kDefinitions)
    for (Scenario& s : read_scenarios(options.task + "/workloads/" + name + ".jsonl", definitions)) {
      if (std::find(s.sets.begin(), s.sets.end(), options.set) == s.sets.end()) continue;
      if (index >= options.skip) check_scenario(options, reference, start, s, index, flush);
      ++index;
    }
  return failures > 0 ? 1 : 0;
}

}  // namespace
}  // namespace hopper

int main(int argc, char** argv) {
  hopper::Options options;
  for (int i = 1; i < argc; ++i) {
    const std::string name = argv[i];
    const auto value = [&] { return ++i < argc ? std::string(argv[i]) : std::string(); };
    if (name == "--task") options.task = value();
    else if (name == "--small") options.small = value();
    else if (name == "--reference") options.reference = value();
    else if (name == "--start") options.start = value();
    else if (name == "--set") options.set = value();
    else if (name == "--skip") options.skip = std::atoi(value().c_str());
    else if (name == "--calibrate") options.calibrate = true;
    else if (name == "--f64") options.all_f64 = value() == "all";
    else return std::fprintf(stderr, "unknown option %s\n", argv[i]), 2;
  }
  int devices = 0;
  if (cudaGetDeviceCount(&devices) != cudaSuccess || devices == 0) return std::fprintf(stderr, "no GPU here\n"), 77;
  return hopper::run(options);
}
