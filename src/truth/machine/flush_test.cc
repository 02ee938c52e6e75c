// SPDX-License-Identifier: Apache-2.0
#include "truth/machine/flush.h"

#include <gtest/gtest.h>
#include <sys/mman.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

namespace whet {
namespace {

// Nanoseconds to read each line once, each address depending on the value before, so that no prefetcher or overlap hides the misses.
double chase_ns(const std::vector<uint32_t>& next, size_t steps) {
  const auto begin = std::chrono::steady_clock::now();
  uint32_t at = 0;
  for (size_t i = 0; i < steps; ++i) at = next[at];
  const double ns = std::chrono::duration<double, std::nano>(std::chrono::steady_clock::now() - begin).count();
  EXPECT_EQ(at, 0u);  // a full circle
  return ns / static_cast<double>(steps);
}

TEST(Flush, MakesReadsSlow) {
  if (flush_instruction() == "none") GTEST_SKIP() << "no instruction drops cache lines here";
  // 4096 lines in one circle of a fixed, scattered order.
  constexpr uint32_t kLines = 4096, kWordsPerLine = 16;
  std::vector<uint32_t> next(kLines * kWordsPerLine);
  for (uint32_t i = 0; i < kLines; ++i)
    next[(i * 1597u % kLines) * kWordsPerLine] = ((i + 1) * 1597u % kLines) * kWordsPerLine;
  double warm = 1e9, cold = 1e9;
  for (int repetition = 0; repetition < 5; ++repetition) {
    chase_ns(next, kLines);
    warm = std::min(warm, chase_ns(next, kLines));
    flush(next.data(), next.size() * sizeof(uint32_t));
    cold = std::min(cold, chase_ns(next, kLines));
  }
  EXPECT_GT(cold, 4 * warm) << "warm " << warm << " ns, flushed " << cold << " ns a line";
  RecordProperty("warm_ns", std::to_string(warm));
  RecordProperty("flushed_ns", std::to_string(cold));
}

TEST(Flush, TakesReadOnlyAndOddRangesAndKeepsContents) {
  auto* memory = static_cast<char*>(::mmap(nullptr, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  ASSERT_NE(memory, MAP_FAILED);
  std::fill(memory, memory + 8192, 'x');
  ::mprotect(memory, 8192, PROT_READ);
  flush(memory + 3, 0);
  flush(memory + 63, 2);
  flush(memory, 8192);
  EXPECT_EQ(std::count(memory, memory + 8192, 'x'), 8192);
  ::munmap(memory, 8192);
}

TEST(Flush, CopiesPastCachesExactlyWhatItIsGiven) {
  std::vector<unsigned char> from(1000), to(1000);
  for (size_t i = 0; i < from.size(); ++i) from[i] = static_cast<unsigned char>(i * 7 + 1);
  for (size_t bytes : {0, 1, 63, 64, 65, 200, 700})
    for (size_t shift : {0, 1, 17, 64, 100}) {
      std::fill(to.begin(), to.end(), 0);
      copy_past_caches(to.data() + shift, from.data() + 3, bytes);
      for (size_t i = 0; i < to.size(); ++i)
        ASSERT_EQ(to[i], i >= shift && i < shift + bytes ? from[i - shift + 3] : 0) << bytes << " bytes to " << shift << ", byte " << i;
    }
}

}  // namespace
}  // namespace whet
