// SPDX-License-Identifier: Apache-2.0
//
// The Solution on the scenarios of attention-hopper, without the judge: is it right, how long does it take, how far is it from the peers?
//
//   attention_bench --task DIR --solution A.so --reference R.so [--peers FILE] [--set NAME] [--only TEXT] [--skip N] [--repeats N] [--no-check] [--no-time] [--small FILE]
//
// FILE: "name<TAB>floor us<TAB>FA3 us<TAB>best us<TAB>best peer" a line. A line of output per scenario; where it is wrong, where it is wrong.
// Exit code 0: all that is supported is right; 1: some are not; 3: the device context was lost (go on with --skip); 77: no GPU.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <fstream>
#include <sstream>

#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include "../../../tests/attention_hopper/compare.h"
#include "../../../tests/attention_hopper/solution.h"

using namespace hopper;

namespace {

struct Options {
  std::string task, solution, reference, peers, set = "26", only, small;
  int skip = 0, repeats = 11;
  bool check = true, time = true;
};

struct Peer {
  double floor = 0, fa3 = 0, best = 0;
  std::string who;
};

std::map<std::string, Peer> read_peers(const std::string& path) {
  std::map<std::string, Peer> peers;
  std::ifstream in(path);
  for (std::string line; std::getline(in, line);) {
    std::istringstream words(line);
    std::string name;
    Peer p;
    words >> name >> p.floor >> p.fa3 >> p.best >> p.who;
    peers[name] = p;
  }
  return peers;
}

// Holds the stream for so long that everything behind it is queued before it starts.
__global__ void hold(long long nanoseconds) {
  long long begin, now;
  asm volatile("mov.u64 %0, %globaltimer;" : "=l"(begin));
  do asm volatile("mov.u64 %0, %globaltimer;" : "=l"(now));
  while (now - begin < nanoseconds);
}

struct Times {
  float cold = 0, hot = 0;
};

float between(cudaEvent_t a, cudaEvent_t b) {
  float ms = 0;
  cudaEventElapsedTime(&ms, a, b);
  return 1000 * ms;
}

Times time(Prepared& call, int repeats) {
  static void* flush = nullptr;
  static cudaEvent_t a = nullptr, b = nullptr;
  constexpr std::size_t kFlush = std::size_t{256} << 20;
  if (!flush) {
    must(cudaMalloc(&flush, kFlush), "cudaMalloc");
    must(cudaEventCreate(&a), "event");
    must(cudaEventCreate(&b), "event");
  }
  std::vector<float> cold;
  for (int i = 0; i < repeats; ++i) {
    cudaMemsetAsync(flush, i, kFlush, nullptr);
    hold<<<1, 1>>>(40'000);
    cudaEventRecord(a);
    if (!call.run()) return {};
    cudaEventRecord(b);
    must(cudaEventSynchronize(b), "timing");
    cold.push_back(between(a, b));
  }
  std::sort(cold.begin(), cold.end());
  constexpr int kHot = 5;
  hold<<<1, 1>>>(100'000);
  cudaEventRecord(a);
  for (int i = 0; i < kHot; ++i) call.run();
  cudaEventRecord(b);
  must(cudaEventSynchronize(b), "timing");
  return {cold[cold.size() / 2], between(a, b) / kHot};
}

std::vector<float> to_host(const void* data, Type type, long long count) {
  std::vector<char> bytes(static_cast<std::size_t>(count * size_of(type)));
  must(cudaMemcpy(bytes.data(), data, bytes.size(), cudaMemcpyDeviceToHost), "cudaMemcpy");
  std::vector<float> values(static_cast<std::size_t>(count));
  for (std::size_t i = 0; i < values.size(); ++i)
    values[i] = type == Type::bf16   ? __bfloat162float(reinterpret_cast<__nv_bfloat16*>(bytes.data())[i])
                : type == Type::fp16 ? __half2float(reinterpret_cast<__half*>(bytes.data())[i])
                                     : reinterpret_cast<float*>(bytes.data())[i];
  return values;
}

// Where the errors are: the first few, and the largest by row, head and column.
void explain(const Scenario& s, const std::vector<float>& got, const std::vector<float>& want, double rms) {
  const auto& shape = s.tensors.back().shape;
  const long long dv = shape.back(), heads = shape[shape.size() - 2], rows = static_cast<long long>(got.size()) / dv / heads;
  const long long row_step = std::max<long long>(1, (std::min<long long>(rows, 1024) + 31) / 32), column_step = std::max<long long>(1, dv / 16);
  std::vector<double> by_row(32), by_head(static_cast<std::size_t>(heads)), by_column(16);
  int shown = 0;
  for (long long i = 0; i < static_cast<long long>(got.size()); ++i) {
    const long long column = i % dv, head = i / dv % heads, row = i / dv / heads;
    const double a = got[static_cast<std::size_t>(i)], b = want[static_cast<std::size_t>(i)];
    const double error = std::isfinite(a) ? std::fabs(a - b) / rms : 1e9;
    if (error > 0.05 && shown < 6) {
      std::printf("    row %lld head %lld column %lld: got %g, want %g\n", row, head, column, a, b);
      ++shown;
    }
    if (row / row_step < 32) by_row[static_cast<std::size_t>(row / row_step)] = std::max(by_row[static_cast<std::size_t>(row / row_step)], error);
    by_head[static_cast<std::size_t>(head)] = std::max(by_head[static_cast<std::size_t>(head)], error);
    by_column[static_cast<std::size_t>(std::min<long long>(15, column / column_step))] = std::max(by_column[static_cast<std::size_t>(std::min<long long>(15, column / column_step))], error);
  }
  const auto print = [](const char* what, const std::vector<double>& list, long long step) {
    std::printf("    largest error / rms by %lld %s:", step, what);
    for (std::size_t i = 0; i < std::min<std::size_t>(list.size(), 32); ++i) std::printf(" %.2g", list[i]);
    std::printf("\n");
  };
  print("rows", by_row, row_step);
  print("heads", by_head, 1);
  print("columns", by_column, column_step);
}

int wrong = 0, right = 0, missing = 0;
double log_fa3 = 0, log_best = 0, log_floor = 0;
int timed = 0, with_fa3 = 0;

void one(const Options& options, const Solution& solution, const Solution* reference, const std::map<std::string, Peer>& peers, Scenario& s, int index) {
  allocate(s);
  for (const Tensor& tensor : s.tensors)
    if (!tensor.output) draw(s, tensor, 1);
  Tensor& out = s.output();
  must(cudaMemset(out.data, 0xff, static_cast<std::size_t>(out.bytes())), "poisoning");
  {
    Prepared call(solution, s.definition, s, out.data, out.type);
    call.run();
    const cudaError_t lost = cudaDeviceSynchronize();
    if (lost != cudaSuccess) {
      std::printf("%3d %-46s LOST: %s\n", index, s.name.c_str(), cudaGetErrorString(lost));
      std::fflush(stdout);
      std::exit(kDeviceLost);
    }
    if (!call.error().empty()) {
      std::printf("%3d %-46s -- %s\n", index, s.name.c_str(), call.error().c_str());
      ++missing;
      release(s);
      return;
    }
    std::string verdict = "unchecked";
    std::vector<float> got, want;
    double rms = 1;
    if (options.check && reference) {
      float* exact = nullptr;
      must(cudaMalloc(&exact, static_cast<std::size_t>(4 * out.count + 256)), "cudaMalloc");
      Prepared truth(*reference, s.definition, s, exact, Type::f32);
      truth.run();
      must(cudaDeviceSynchronize(), "reference");
      Difference d = compare(out.data, out.type, exact, out.count, s.rtol, s.atol);
      if (d.passes(s.norm)) {  // and once more with the plan that has run, on a poisoned output
        must(cudaMemset(out.data, 0xff, static_cast<std::size_t>(out.bytes())), "poisoning");
        call.run();
        must(cudaDeviceSynchronize(), "second run");
        d = compare(out.data, out.type, exact, out.count, s.rtol, s.atol);
      }
      char text[160];
      std::snprintf(text, sizeof text, "%s bound %.2f norm %.1e", d.passes(s.norm) ? "ok" : "WRONG", d.bound, d.norm);
      verdict = text;
      if (!d.passes(s.norm)) {
        ++wrong;
        std::snprintf(text, sizeof text, " (%lld of %lld fail, %lld not finite)", d.failing, out.count, d.not_finite);
        verdict += text;
        if (out.count < 200'000'000) {
          got = to_host(out.data, out.type, out.count);
          want = to_host(exact, Type::f32, out.count);
          rms = d.rms;
        }
      } else {
        ++right;
      }
      cudaFree(exact);
    }
    const Times t = options.time ? time(call, s.flops > 4e12 ? 3 : options.repeats) : Times{};
    const auto found = peers.find(s.name);
    const Peer p = found == peers.end() ? Peer{} : found->second;
    std::printf("%3d %-46s %s", index, s.name.c_str(), verdict.c_str());
    if (t.cold > 0) {
      std::printf(" | cold %.1f hot %.1f us, %.0f TFLOP/s, %.2f TB/s | floor %.1f FA3 %.1f best %.1f %s | floor/us %.2f FA3/us %.3f best/us %.3f", t.cold, t.hot, s.flops / t.cold * 1e-6,
                  s.bytes / t.cold * 1e-6, p.floor, p.fa3, p.best, p.who.c_str(), p.floor / t.cold, p.fa3 / t.cold, p.best / t.cold);
      if (p.best > 0) {
        ++timed;
        log_best += std::log(p.best / t.cold);
        log_floor += std::log(p.floor / t.cold);
        if (p.fa3 > 0) {
          ++with_fa3;
          log_fa3 += std::log(p.fa3 / t.cold);
        }
      }
    }
    std::printf("\n");
    if (!got.empty()) explain(s, got, want, rms);
    std::fflush(stdout);
  }
  release(s);
}

int run(const Options& options) {
  static const std::vector<std::string> kDefinitions = {
      "attention_dense_bf16", "attention_dense_fp16", "attention_dense_e4m3", "attention_dense_bf16_sink", "attention_dense_bf16_leftpad", "attention_varlen_bf16",
      "attention_varlen_e4m3", "attention_paged_bf16", "attention_paged_e4m3", "attention_paged_bf16_kve4m3", "attention_paged_bf16_sink", "attention_paged_bf16_mla"};
  const auto definitions = read_definitions(options.task, kDefinitions);
  const auto peers = read_peers(options.peers);
  const Solution solution(options.solution);
  const Solution reference(options.reference);
  int index = 0;
  const auto all_of = [&](const std::string& path, bool any_set) {
    for (Scenario& s : read_scenarios(path, definitions)) {
      if (!any_set && std::find(s.sets.begin(), s.sets.end(), options.set) == s.sets.end()) continue;
      if (!options.only.empty() && s.name.find(options.only) == std::string::npos && s.family.find(options.only) == std::string::npos) continue;
      if (index >= options.skip) one(options, solution, &reference, peers, s, index);
      ++index;
    }
  };
  if (!options.small.empty()) {
    all_of(options.small, true);
  } else {
    for (const std::string& name : kDefinitions) all_of(options.task + "/workloads/" + name + ".jsonl", false);
  }
  std::printf("%d right, %d wrong, %d not supported", right, wrong, missing);
  if (timed > 0) std::printf("; geomean over %d timed: best/us %.3f, floor/us %.3f", timed, std::exp(log_best / timed), std::exp(log_floor / timed));
  if (with_fa3 > 0) std::printf(", FA3/us %.3f (%d)", std::exp(log_fa3 / with_fa3), with_fa3);
  std::printf("\n");
  return wrong > 0 ? 1 : 0;
}

}  // namespace

int main(int argc, char** argv) {
  Options options;
  for (int i = 1; i < argc; ++i) {
    const std::string name = argv[i];
    const auto value = [&] { return ++i < argc ? std::string(argv[i]) : std::string(); };
    if (name == "--task") options.task = value();
    else if (name == "--solution") options.solution = value();
    else if (name == "--reference") options.reference = value();
    else if (name == "--peers") options.peers = value();
    else if (name == "--set") options.set = value();
    else if (name == "--only") options.only = value();
    else if (name == "--small") options.small = value();
    else if (name == "--skip") options.skip = std::atoi(value().c_str());
    else if (name == "--repeats") options.repeats = std::atoi(value().c_str());
    else if (name == "--no-check") options.check = false;
    else if (name == "--no-time") options.time = false;
    else return std::fprintf(stderr, "unknown option %s\n", argv[i]), 2;
  }
  int devices = 0;
  if (cudaGetDeviceCount(&devices) != cudaSuccess || devices == 0) return std::fprintf(stderr, "no GPU here\n"), 77;
  return run(options);
}
