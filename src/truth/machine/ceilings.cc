// SPDX-License-Identifier: Apache-2.0
#include "truth/machine/ceilings.h"

#include <pthread.h>
#include <sched.h>
#include <sys/mman.h>

#include <algorithm>
#include <atomic>
#include <barrier>
#include <chrono>
#include <cstdint>
#include <functional>
#include <thread>

#include "base/json_impl.h"
#include "truth/machine/flush.h"

#if defined(__x86_64__)
#include <cpuid.h>
#include <immintrin.h>
#endif

namespace whet {
namespace {

using Clock = std::chrono::steady_clock;

constexpr double kRateSlack = 1.5;
constexpr size_t kBytesPerThread = size_t{24} << 20;
constexpr int kReadRepetitions = 4;
constexpr long kFmaRounds = 1'000'000;
constexpr int kFmaRepetitions = 4;

void pin_to(int core) {
  if (core < 0 || core >= CPU_SETSIZE) return;
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(core, &set);
  ::pthread_setaffinity_np(::pthread_self(), sizeof set, &set);
}

double seconds_since(Clock::time_point begin) { return std::chrono::duration<double>(Clock::now() - begin).count(); }

// Results go here so that no compiler can leave the work out.
std::atomic<float> sink;

// Runs `prepare` and then `work` on every core at once, several times; the shortest time from the common start to the last end.
double best_of(const std::vector<int>& cores, int repetitions, const std::function<void(size_t)>& prepare,
               const std::function<void(size_t)>& work) {
  std::barrier<> together(static_cast<std::ptrdiff_t>(cores.size()));
  double best = 0;
  auto body = [&](size_t i) {
    pin_to(cores[i]);
    for (int repetition = 0; repetition < repetitions; ++repetition) {
      prepare(i);
      together.arrive_and_wait();
      const auto begin = Clock::now();
      work(i);
      together.arrive_and_wait();
      const double seconds = seconds_since(begin);
      if (i == 0 && (repetition == 0 || seconds < best)) best = seconds;
    }
  };
  std::vector<std::jthread> threads;
  for (size_t i = 0; i < cores.size(); ++i) threads.emplace_back(body, i);
  threads.clear();
  return best;
}

// Never instrumented: what a sanitizer adds to each load would pass for the memory's slowness.
[[gnu::no_sanitize("address", "thread", "undefined")]] uint64_t read_all(const uint64_t* words, size_t count) {
  // One load per line is enough to bring it in; eight streams keep the prefetchers and the line-fill buffers busy.
  constexpr size_t kStreams = 8, kStep = 8;
  const size_t part = count / kStreams;
  uint64_t sums[kStreams] = {};
  for (size_t i = 0; i < part; i += kStep)
    for (size_t s = 0; s < kStreams; ++s) sums[s] += words[s * part + i];
  uint64_t sum = 0;
  for (const uint64_t one : sums) sum += one;
  return sum;
}

double measure_read(const std::vector<int>& cores) {
  const size_t bytes = kBytesPerThread * cores.size();
  void* memory = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return 0;
  ::madvise(memory, bytes, MADV_HUGEPAGE);
  const size_t words = kBytesPerThread / sizeof(uint64_t);
  auto part = [&](size_t i) { return static_cast<uint64_t*>(memory) + i * words; };
  std::vector<char> filled(cores.size());
  auto prepare = [&](size_t i) {
    // Untouched memory is one shared page of zeros.
    if (!filled[i])
      for (size_t word = 0; word < words; word += 512) part(i)[word] = word;
    filled[i] = 1;
    flush(part(i), kBytesPerThread);
  };
  auto work = [&](size_t i) { sink.store(static_cast<float>(read_all(part(i), words)), std::memory_order_relaxed); };
  const double seconds = best_of(cores, kReadRepetitions, prepare, work);
  ::munmap(memory, bytes);
  return static_cast<double>(bytes) / seconds * 1e-9;
}

// Twelve sums in registers of their own hide the latency of two units. Each step is one instruction in assembly: a compiler that keeps an array
// of sums in memory would measure its own stores, and a ceiling that is too low accuses honest Solutions.
// Each function returns the arithmetic of one call: operations, multiply-adds counted twice.
constexpr int kSums = 12;
#define WHET_EACH_SUM(X) X(s0) X(s1) X(s2) X(s3) X(s4) X(s5) X(s6) X(s7) X(s8) X(s9) X(s10) X(s11)
#define WHET_ALL_SUMS s0, s1, s2, s3, s4, s5, s6, s7, s8, s9, s10, s11

#if defined(__x86_64__)
#define WHET_MULTIPLY_ADD(sum) asm volatile("vfmadd231ps %2, %1, %0" : "+v"(sum) : "v"(factor), "v"(step));
[[gnu::target("avx512f")]] double multiply_add_512() {
  const __m512 factor = _mm512_set1_ps(0.5f), step = _mm512_set1_ps(0.25f);
  __m512 WHET_ALL_SUMS;
#define WHET_CLEAR(sum) sum = _mm512_setzero_ps();
  WHET_EACH_SUM(WHET_CLEAR)
#undef WHET_CLEAR
  for (long round = 0; round < kFmaRounds; ++round) {
    WHET_EACH_SUM(WHET_MULTIPLY_ADD)
  }
  return 2.0 * 16 * kSums * kFmaRounds;
}

[[gnu::target("avx2,fma")]] double multiply_add_256() {
  const __m256 factor = _mm256_set1_ps(0.5f), step = _mm256_set1_ps(0.25f);
  __m256 WHET_ALL_SUMS;
#define WHET_CLEAR(sum) sum = _mm256_setzero_ps();
  WHET_EACH_SUM(WHET_CLEAR)
#undef WHET_CLEAR
  for (long round = 0; round < kFmaRounds; ++round) {
    WHET_EACH_SUM(WHET_MULTIPLY_ADD)
  }
  return 2.0 * 8 * kSums * kFmaRounds;
}
#undef WHET_MULTIPLY_ADD
#endif

#if defined(__x86_64__)
// Two instructions for a multiply and an add: what every x86-64 has.
#define WHET_MULTIPLY_ADD(sum) asm volatile("mulps %1, %0\n\taddps %2, %0" : "+x"(sum) : "x"(factor), "x"(step));
#elif defined(__aarch64__)
#define WHET_MULTIPLY_ADD(sum) asm volatile("fmla %0.4s, %1.4s, %2.4s" : "+w"(sum) : "w"(factor), "w"(step));
#else
#define WHET_MULTIPLY_ADD(sum) sum = sum * factor + step;
#endif
double multiply_add_baseline() {
  typedef float Vector __attribute__((vector_size(16)));
  const Vector factor = Vector{} + 0.5f, step = Vector{} + 0.25f;
  Vector WHET_ALL_SUMS;
#define WHET_CLEAR(sum) sum = Vector{};
  WHET_EACH_SUM(WHET_CLEAR)
#undef WHET_CLEAR
  for (long round = 0; round < kFmaRounds; ++round) {
    WHET_EACH_SUM(WHET_MULTIPLY_ADD)
  }
#define WHET_KEEP(sum) sink.store(sum[0], std::memory_order_relaxed);
  WHET_EACH_SUM(WHET_KEEP)
#undef WHET_KEEP
  return 2.0 * 4 * kSums * kFmaRounds;
}
#undef WHET_MULTIPLY_ADD

struct VectorUnit {
  const char* name;
  double (*multiply_add)();
};

VectorUnit best_vector_unit() {
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx512f")) return {"avx512f", multiply_add_512};
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) return {"avx2+fma", multiply_add_256};
#endif
  return {"baseline", multiply_add_baseline};
}

bool has_amx() {
#if defined(__x86_64__)
  unsigned a = 0, b = 0, c = 0, d = 0;
  return __get_cpuid_count(7, 0, &a, &b, &c, &d) != 0 && (d & (1u << 24)) != 0;  // AMX-TILE
#else
  return false;
#endif
}

double measure_multiply_add(const std::vector<int>& cores, const VectorUnit& unit) {
  std::vector<double> done(cores.size());
  const double seconds = best_of(
      cores, kFmaRepetitions, [](size_t) {}, [&](size_t i) { done[i] = unit.multiply_add(); });
  double all = 0;
  for (const double one : done) all += one;
  return all / seconds * 1e-9;
}

}  // namespace

Ceilings measure_ceilings(const std::vector<int>& cores) {
  const auto begin = Clock::now();
  Ceilings ceilings;
  const std::vector<int> used = cores.empty() ? std::vector<int>{-1} : cores;
  const VectorUnit unit = best_vector_unit();
  ceilings.threads = static_cast<int>(used.size());
  ceilings.vector_unit = unit.name;
  ceilings.has_amx = has_amx();
  ceilings.read_gb_per_s = measure_read(used);
  ceilings.f32_gflop_per_s = measure_multiply_add(used, unit);
  ceilings.seconds = seconds_since(begin);
  return ceilings;
}

Json to_json(const Ceilings& ceilings) {
  return Json{{"read_gb_per_s", json_double(ceilings.read_gb_per_s)},
              {"f32_gflop_per_s", json_double(ceilings.f32_gflop_per_s)},
              {"vector_unit", ceilings.vector_unit},
              {"has_amx", ceilings.has_amx},
              {"threads", ceilings.threads},
              {"seconds", json_double(ceilings.seconds)}};
}

double Roofline::peak_gb_per_s() const { return ceilings_.read_gb_per_s * kRateSlack; }

double Roofline::peak_gflop_per_s(Dtype dtype) const {
  double factor = 1;
  switch (size_of(dtype)) {
    case 8:
      factor = 1;
      break;  // generous: half as many lanes
    case 4:
      factor = ceilings_.has_amx ? 12 : 1;
      break;  // three bfloat16 products on tiles can stand in for one f32 product
    case 2:
      factor = ceilings_.has_amx ? 32 : 4;
      break;
    default:
      factor = ceilings_.has_amx ? 64 : 8;
      break;
  }
  return ceilings_.f32_gflop_per_s * kRateSlack * factor;
}

double Roofline::floor_ns(double bytes, double flops, Dtype dtype) const {
  // GB/s is bytes per ns.
  const double memory = peak_gb_per_s() > 0 ? bytes / peak_gb_per_s() : 0;
  const double arithmetic = peak_gflop_per_s(dtype) > 0 ? flops / peak_gflop_per_s(dtype) : 0;
  return std::max(memory, arithmetic);
}

}  // namespace whet
