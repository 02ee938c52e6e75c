// SPDX-License-Identifier: Apache-2.0
#include "plan/schedule.h"

#include <algorithm>

namespace whet_kernels {
namespace {

// Pieces that run at the same time should find their keys in the last-level cache: heads are worked off in sections of about so many bytes, of at
// least so many pieces per CTA that the heaviest of them can be balanced by the others.
constexpr long long kSectionBytes = 24ll << 20;
constexpr int kSectionPieces = 3;
// The lightest pieces of all sections, this part of the whole cost, come at the end: they even out what the last section leaves.
constexpr int kLastPart = 12;
// Loading queries, the first product and the output cost about as much as this many key tiles.
constexpr int kOverheadTiles = 2;
// A part has at least this many key tiles, unless its rows have fewer.
constexpr int kLeastTiles = 2;
// Adding up parts takes the last warpgroup this long per part, row and column; where that is more than a second launch costs, one is made.
constexpr double kPartNs = 0.16, kLaunchNs = 4000;

long long up(long long a, long long b) { return (a + b - 1) / b; }
long long clamp_to(long long x, long long low, long long high) { return x < low ? low : x > high ? high : x; }

struct Sequence {
  long long first_q, rows, first_k, keys, first_key;
};

Sequence sequence_of(const WhetAttentionShape& s, const WhetAttentionLengths& l, long long b) {
  Sequence q = {};
  if (s.layout == WHET_ATTENTION_DENSE) {
    q = {b * s.max_q, s.max_q, 0, s.max_k, 0};
  } else {
    q.first_q = l.first_q[b];
    q.rows = l.first_q[b + 1] - l.first_q[b];
    q.first_k = s.layout == WHET_ATTENTION_PACKED ? l.first_k[b] : 0;
    q.keys = s.layout == WHET_ATTENTION_PACKED ? l.first_k[b + 1] - l.first_k[b] : l.used_k[b];
  }
  if (l.first_key) q.first_key = l.first_key[b];
  return q;
}

// Fills in which key tiles the rows of `work` see, and in which of them every row sees every key.
void find_tiles(const WhetAttentionShape& s, const Tiling& t, Work& work) {
  const long long last = work.position + (work.rows - 1) / t.group;
  const long long right = s.causal ? 0 : s.window_right;
  const auto low = [&](long long position) { return s.window_left >= 0 ? std::max<long long>(work.first_key, position - s.window_left) : work.first_key; };
  const auto high = [&](long long position) { return right >= 0 ? std::min<long long>(work.keys, position + right + 1) : work.keys; };
  if (low(work.position) >= high(last)) return;
  work.begin = static_cast<int>(low(work.position) / t.keys);
  work.end = static_cast<int>(up(high(last), t.keys));
  work.clean_begin = static_cast<int>(up(low(last), t.keys));
  work.clean_end = static_cast<int>(std::max<long long>(0, high(work.position)) / t.keys);
}

// A row sees what lies between begin and end only where it is not masked; the ends of the clean tiles stay within.
void clip_clean(Work& work) {
  const int begin = work.begin, end = std::max(work.begin, work.end);
  work.clean_begin = static_cast<int>(clamp_to(work.clean_begin, begin, end));
  work.clean_end = static_cast<int>(clamp_to(work.clean_end, begin, end));
  if (work.clean_end < work.clean_begin) work.clean_begin = work.clean_end = begin;
}

int cost(const Work& work) { return work.end - work.begin + kOverheadTiles; }

// In the order of sequences, key heads, rows, heads of a group: what shares keys is together.
std::vector<Work> whole_pieces(const WhetAttentionShape& s, const WhetAttentionLengths& l, const Tiling& t) {
  std::vector<Work> list;
  const int tile_rows = t.rows / t.group;  // query rows
  const int of_key_head = s.heads / s.kv_heads, units = of_key_head / t.group;
  for (long long b = 0; b < s.batch; ++b) {
    const Sequence q = sequence_of(s, l, b);
    for (int kv_head = 0; kv_head < s.kv_heads; ++kv_head)
      for (long long row = 0; row < q.rows; row += tile_rows)
        for (int unit = 0; unit < units; ++unit) {
          Work work = {};
          work.q_row = static_cast<int>(q.first_q + row);
          work.rows = static_cast<int>(std::min<long long>(tile_rows, q.rows - row)) * t.group;
          work.head = kv_head * units + unit;
          work.kv_head = kv_head;
          work.batch = static_cast<int>(s.layout == WHET_ATTENTION_PACKED ? 0 : b);
          work.sequence = static_cast<int>(b);
          work.kv_row = static_cast<int>(q.first_k);
          work.position = static_cast<int>(row + q.keys - q.rows);
          work.keys = static_cast<int>(q.keys);
          work.first_key = static_cast<int>(q.first_key);
          work.slot = -1;
          find_tiles(s, t, work);
          clip_clean(work);
          list.push_back(work);
        }
  }
  return list;
}

bool heavier(const Work& a, const Work& b) { return cost(a) > cost(b); }
bool same_keys(const Work& a, const Work& b) { return a.sequence == b.sequence && a.kv_head == b.kv_head; }

// Takes out the lightest pieces until they are one kLastPart-th of all cost.
std::vector<Work> take_lightest(std::vector<Work>& list) {
  std::vector<int> costs;
  long long total = 0;
  for (const Work& work : list) {
    costs.push_back(cost(work));
    total += costs.back();
  }
  std::sort(costs.begin(), costs.end());
  long long sum = 0;
  int limit = 0;
  for (int c : costs) {
    if ((sum += c) > total / kLastPart) break;
    limit = c;
  }
  if (costs.empty() || limit == costs.back()) return {};  // all equal
  const auto rest = std::stable_partition(list.begin(), list.end(), [&](const Work& work) { return cost(work) > limit; });
  std::vector<Work> light(rest, list.end());
  list.erase(rest, list.end());
  return light;
}

// Equal sections of heads, the heaviest pieces of each first; the lightest of all at the end.
void sort_by_sections(const WhetAttentionShape& s, const Tiling& t, std::vector<Work>& list) {
  std::vector<Work> light = take_lightest(list);
  const long long bytes_per_key = static_cast<long long>(s.kv_type == WHET_ATTENTION_E4M3 ? 1 : 2) * (s.head_dim + s.v_dim);
  long long bytes = 0;
  for (std::size_t i = 0; i < list.size(); ++i)
    if (i == 0 || !same_keys(list[i], list[i - 1])) bytes += list[i].keys * bytes_per_key;
  const long long sections = std::max<long long>(1, std::min<long long>(up(bytes, kSectionBytes), static_cast<long long>(list.size()) / (kSectionPieces * t.ctas)));
  const long long pieces = up(static_cast<long long>(list.size()), sections);
  std::size_t begin = 0;
  while (begin < list.size()) {
    std::size_t end = std::min(list.size(), begin + static_cast<std::size_t>(pieces));
    while (end < list.size() && same_keys(list[end], list[end - 1])) ++end;
    std::stable_sort(list.begin() + static_cast<long>(begin), list.begin() + static_cast<long>(end), heavier);
    begin = end;
  }
  std::stable_sort(light.begin(), light.end(), heavier);
  list.insert(list.end(), light.begin(), light.end());
}

// Lays the pieces end to end and cuts the line into equal shares, one for each CTA; rows whose keys are cut are summed by whoever ends last.
Schedule equal_shares(const WhetAttentionShape& s, const std::vector<Work>& list, const Tiling& t) {
  Schedule result;
  long long total = 0;
  for (const Work& work : list) total += cost(work);
  const long long shares = clamp_to(total / (kLeastTiles + kOverheadTiles), 1, t.ctas);
  std::vector<int> pieces_of(static_cast<std::size_t>(shares), 0);
  long long at = 0;  // where `whole` begins on the line
  for (const Work& whole : list) {
    const int tiles = whole.end - whole.begin, length = cost(whole);
    // Tiles are worked off from the last to the first, so the line runs that way.
    std::vector<int> cuts = {0};
    for (long long share = at * shares / total + 1; share < shares; ++share) {
      const long long cut = (share * total / shares - at) * tiles / length;
      if (cut + kLeastTiles > tiles) break;
      if (cut - cuts.back() >= kLeastTiles) cuts.push_back(static_cast<int>(cut));
    }
    cuts.push_back(tiles);
    const int parts = static_cast<int>(cuts.size()) - 1;
    for (int i = 0; i < parts; ++i) {
      Work piece = whole;
      piece.end = whole.end - cuts[static_cast<std::size_t>(i)];
      piece.begin = whole.end - cuts[static_cast<std::size_t>(i) + 1];
      clip_clean(piece);
      if (parts > 1) {
        piece.first_slot = result.slots;
        piece.slot = result.slots + i;
        piece.parts = parts;
        piece.ticket = result.tickets;
      }
      const long long middle = 2 * at + (cuts[static_cast<std::size_t>(i)] + cuts[static_cast<std::size_t>(i) + 1]) * static_cast<long long>(length) / std::max(tiles, 1);
      ++pieces_of[static_cast<std::size_t>(clamp_to(middle * shares / (2 * total), 0, shares - 1))];
      result.work.push_back(piece);
    }
    if (parts > 1) {
      result.combines_later |= parts * static_cast<double>(whole.rows) * static_cast<double>(s.v_dim) * kPartNs > kLaunchNs;
      result.first_part.push_back(static_cast<int>(result.work.size()) - parts);
      result.slots += parts;
      ++result.tickets;
    }
    at += length;
  }
  result.first_of_cta.push_back(0);
  for (int pieces : pieces_of) result.first_of_cta.push_back(result.first_of_cta.back() + pieces);
  return result;
}

}  // namespace

Bounds bounds_of(const WhetAttentionShape& s, const Tiling& t) {
  const long long units = s.heads / t.group;
  const long long whole = (s.total_q / (t.rows / t.group) + s.batch) * units;
  return {whole + t.ctas + 1, 2ll * t.ctas + 2, t.ctas + 1ll};
}

Schedule schedule(const WhetAttentionShape& s, const WhetAttentionLengths& l, const Tiling& t) {
  std::vector<Work> list = whole_pieces(s, l, t);
  long long total = 0;
  int most = 0;
  for (const Work& work : list) {
    total += cost(work);
    most = std::max(most, cost(work));
  }
  // Equal shares where handing out whole pieces would leave CTAs idle: few pieces, or one that outweighs a share.
  if (static_cast<long long>(list.size()) < 3ll * t.ctas || most > total / t.ctas || t.rows == 64) return equal_shares(s, list, t);
  sort_by_sections(s, t, list);
  Schedule result;
  result.work = std::move(list);
  return result;
}

}  // namespace whet_kernels
