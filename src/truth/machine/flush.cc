// SPDX-License-Identifier: Apache-2.0
#include "truth/machine/flush.h"

#include <algorithm>
#include <cstdint>
#include <cstring>

#if defined(__x86_64__)
#include <cpuid.h>
#include <immintrin.h>
#endif

namespace whet {
namespace {

constexpr uintptr_t kLine = 64;

#if defined(__x86_64__)
// Weakly ordered, so that many are under way at once; the fence waits for all.
[[gnu::target("clflushopt")]] void flush_unordered(uintptr_t from, uintptr_t to) {
  for (uintptr_t line = from; line < to; line += kLine) _mm_clflushopt(reinterpret_cast<void*>(line));
  _mm_mfence();
}

void flush_ordered(uintptr_t from, uintptr_t to) {
  for (uintptr_t line = from; line < to; line += kLine) _mm_clflush(reinterpret_cast<void*>(line));
  _mm_mfence();
}

bool has_clflushopt() {
  static const bool has = [] {
    unsigned a = 0, b = 0, c = 0, d = 0;
    return __get_cpuid_count(7, 0, &a, &b, &c, &d) != 0 && (b & (1u << 23)) != 0;
  }();
  return has;
}
#endif

}  // namespace

void flush(const void* data, size_t bytes) {
  if (bytes == 0) return;
  const auto begin = reinterpret_cast<uintptr_t>(data);
  const uintptr_t from = begin & ~(kLine - 1), to = begin + bytes;
#if defined(__x86_64__)
  has_clflushopt() ? flush_unordered(from, to) : flush_ordered(from, to);
#elif defined(__aarch64__)
  for (uintptr_t line = from; line < to; line += kLine) asm volatile("dc civac, %0" ::"r"(line) : "memory");
  asm volatile("dsb ish" ::: "memory");
#else
  static_cast<void>(from), static_cast<void>(to);
#endif
}

void copy_past_caches(void* to, const void* from, size_t bytes) {
#if defined(__x86_64__)
  auto* out = static_cast<char*>(to);
  const auto* in = static_cast<const char*>(from);
  const size_t head = std::min(bytes, static_cast<size_t>(-reinterpret_cast<uintptr_t>(out) & (kLine - 1)));
  std::memcpy(out, in, head);
  size_t at = head;
  for (; at + kLine <= bytes; at += kLine)
    for (size_t i = 0; i < kLine; i += sizeof(__m128i))
      _mm_stream_si128(reinterpret_cast<__m128i*>(out + at + i), _mm_loadu_si128(reinterpret_cast<const __m128i*>(in + at + i)));
  std::memcpy(out + at, in + at, bytes - at);
  _mm_sfence();
#else
  std::memcpy(to, from, bytes);
#endif
}

std::string_view flush_instruction() {
#if defined(__x86_64__)
  return has_clflushopt() ? "clflushopt" : "clflush";
#elif defined(__aarch64__)
  return "dc civac";
#else
  return "none";
#endif
}

}  // namespace whet
