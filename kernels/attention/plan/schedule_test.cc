// SPDX-License-Identifier: Apache-2.0
#include "plan/schedule.h"

#include <gtest/gtest.h>

#include <map>
#include <random>
#include <tuple>

namespace whet_kernels {
namespace {

struct Case {
  WhetAttentionShape shape = {};
  std::vector<int> first_q, first_k, used_k, first_key;
  Tiling tiling = {};
  WhetAttentionLengths lengths() const {
    const auto data = [](const std::vector<int>& list) { return list.empty() ? nullptr : list.data(); };
    return {data(first_q), data(first_k), data(used_k), data(first_key)};
  }
};

// What a row of a head sees by the contract of attention.h, and in which piece.
struct Row {
  long long position, low, high;
};

Case drawn(std::mt19937& random) {
  const auto one_of = [&](auto... values) {
    const long long list[] = {static_cast<long long>(values)...};
    return list[random() % (sizeof list / sizeof list[0])];
  };
  Case c;
  WhetAttentionShape& s = c.shape;
  s.layout = static_cast<int>(one_of(0, 1, 2));
  s.kv_heads = static_cast<int>(one_of(1, 2, 3));
  s.heads = s.kv_heads * static_cast<int>(one_of(1, 2, 4, 6));
  s.head_dim = s.v_dim = 128;
  s.batch = one_of(1, 2, 5);
  s.causal = static_cast<int>(one_of(0, 1));
  s.window_left = one_of(-1, -1, 0, 40, 300);
  s.window_right = one_of(-1, -1, 0, 70);
  const long long most_q = one_of(1, 4, 130, 700), most_k = one_of(1, 100, 1000, 5000);
  c.first_q = c.first_k = {0};
  for (int b = 0; b < s.batch; ++b) {
    const bool same = s.layout == WHET_ATTENTION_DENSE;
    const long long rows = same ? most_q : static_cast<long long>(random() % (most_q + 1)), keys = same ? most_k : static_cast<long long>(random() % (most_k + 1));
    c.first_q.push_back(c.first_q.back() + static_cast<int>(rows));
    c.first_k.push_back(c.first_k.back() + static_cast<int>(keys));
    c.used_k.push_back(static_cast<int>(keys));
  }
  if (s.layout == WHET_ATTENTION_DENSE && one_of(0, 1))
    for (int b = 0; b < s.batch; ++b) c.first_key.push_back(static_cast<int>(random() % (most_k + 1)));
  s.max_q = most_q;
  s.max_k = most_k;
  s.total_q = c.first_q.back();
  const int group = s.heads / s.kv_heads;
  c.tiling.rows = static_cast<int>(one_of(64, 128, 192));
  c.tiling.keys = static_cast<int>(one_of(64, 80, 128));
  c.tiling.group = one_of(0, 1) || c.tiling.rows % group != 0 ? 1 : group;
  c.tiling.ctas = static_cast<int>(one_of(1, 7, 132, 264));
  return c;
}

void check(const Case& c) {
  const WhetAttentionShape& s = c.shape;
  const Tiling& t = c.tiling;
  const Schedule made = schedule(s, c.lengths(), t);
  const Bounds bounds = bounds_of(s, t);
  ASSERT_LE(static_cast<long long>(made.work.size()), bounds.work);
  ASSERT_LE(made.slots, bounds.slots);
  ASSERT_LE(made.tickets, bounds.tickets);
  if (!made.first_of_cta.empty()) {
    ASSERT_LE(static_cast<int>(made.first_of_cta.size()), t.ctas + 1);
    ASSERT_EQ(made.first_of_cta.front(), 0);
    ASSERT_EQ(made.first_of_cta.back(), static_cast<int>(made.work.size()));
    for (std::size_t i = 1; i < made.first_of_cta.size(); ++i) ASSERT_LE(made.first_of_cta[i - 1], made.first_of_cta[i]);
  }
  // (row, head) -> key tiles that some piece does.
  std::map<std::pair<int, int>, std::vector<int>> done;
  std::map<int, int> of_ticket, of_slot;
  const int units = s.heads / t.group;
  for (const Work& w : made.work) {
    ASSERT_GT(w.rows, 0);
    ASSERT_LE(w.rows, t.rows);
    ASSERT_EQ(w.rows % t.group, 0);
    if (w.slot >= 0) {
      ++of_ticket[w.ticket];
      ASSERT_EQ(++of_slot[w.slot], 1);
      ASSERT_GE(w.slot, w.first_slot);
      ASSERT_LT(w.slot, w.first_slot + w.parts);
      ASSERT_LT(w.slot, made.slots);
    }
    ASSERT_LE(w.begin, w.clean_begin);
    ASSERT_LE(w.clean_begin, w.clean_end);
    ASSERT_LE(w.clean_end, std::max(w.begin, w.end));
    for (int r = 0; r < w.rows; ++r) {
      const int head = w.head * t.group + r % t.group, row = w.q_row + r / t.group;
      ASSERT_EQ(head / (s.heads / s.kv_heads), w.kv_head);
      ASSERT_LT(w.head, units);
      std::vector<int>& tiles = done[{row, head}];
      for (int tile = w.begin; tile < w.end; ++tile) tiles.push_back(tile);
      const long long position = w.position + r / t.group, right = s.causal ? 0 : s.window_right;
      const long long low = std::max<long long>(w.first_key, s.window_left >= 0 ? position - s.window_left : 0), high = right >= 0 ? std::min<long long>(w.keys, position + right + 1) : w.keys;
      for (int tile = w.clean_begin; tile < w.clean_end; ++tile) {
        ASSERT_GE(static_cast<long long>(tile) * t.keys, low);
        ASSERT_LE(static_cast<long long>(tile + 1) * t.keys, high);
      }
    }
  }
  for (const Work& w : made.work) {
    if (w.slot >= 0) {
      ASSERT_EQ(of_ticket[w.ticket], w.parts);
    }
  }
  for (int b = 0; b < s.batch; ++b) {
    const bool dense = s.layout == WHET_ATTENTION_DENSE;
    const int first = dense ? static_cast<int>(b * s.max_q) : c.first_q[static_cast<std::size_t>(b)];
    const int rows = dense ? static_cast<int>(s.max_q) : c.first_q[static_cast<std::size_t>(b) + 1] - first;
    const int keys = dense ? static_cast<int>(s.max_k) : c.used_k[static_cast<std::size_t>(b)];
    const int pad = c.first_key.empty() ? 0 : c.first_key[static_cast<std::size_t>(b)];
    for (int row = 0; row < rows; ++row)
      for (int head = 0; head < s.heads; ++head) {
        const auto found = done.find({first + row, head});
        ASSERT_NE(found, done.end()) << "row " << row << " head " << head;
        std::map<int, int> times;
        for (int tile : found->second) ASSERT_EQ(++times[tile], 1);
        const long long position = row + keys - rows, right = s.causal ? 0 : s.window_right;
        const long long low = std::max<long long>(pad, s.window_left >= 0 ? position - s.window_left : 0), high = right >= 0 ? std::min<long long>(keys, position + right + 1) : keys;
        for (long long key = low; key < high; ++key) ASSERT_EQ(times.count(static_cast<int>(key / t.keys)), 1u) << "row " << row << " of " << rows << ", key " << key << " of " << keys;
      }
  }
}

TEST(Schedule, EveryVisibleKeyOfEveryRowIsInExactlyOnePiece) {
  std::mt19937 random(7);
  for (int i = 0; i < 400 && !testing::Test::HasFatalFailure(); ++i) check(drawn(random));
}

TEST(Schedule, SharesOfManyEqualSequencesAreEqual) {
  Case c;
  c.shape.layout = WHET_ATTENTION_DENSE;
  c.shape.heads = 32;
  c.shape.kv_heads = 8;
  c.shape.head_dim = c.shape.v_dim = 128;
  c.shape.batch = c.shape.total_q = 64;
  c.shape.max_q = 1;
  c.shape.max_k = 4096;
  c.shape.window_left = c.shape.window_right = -1;
  c.shape.causal = 1;
  c.tiling = {64, 64, 4, 264};
  const Schedule made = schedule(c.shape, {}, c.tiling);
  ASSERT_EQ(made.first_of_cta.size(), 265u);
  int least = 1 << 30, most = 0;
  for (std::size_t i = 1; i < made.first_of_cta.size(); ++i) {
    int tiles = 0;
    for (int w = made.first_of_cta[i - 1]; w < made.first_of_cta[i]; ++w) tiles += made.work[static_cast<std::size_t>(w)].end - made.work[static_cast<std::size_t>(w)].begin;
    least = std::min(least, tiles);
    most = std::max(most, tiles);
  }
  EXPECT_LE(most - least, 6) << least << " to " << most << " key tiles";
}

}  // namespace
}  // namespace whet_kernels
