// SPDX-License-Identifier: Apache-2.0
//
// How a call is cut into pieces of work. Pure arithmetic over shapes and lengths, on the host.
#pragma once

#include <vector>

#include "forward/work.h"
#include "include/whet_kernels/attention.h"

namespace whet_kernels {

struct Tiling {
  int rows, keys;  // of a tile
  int group;       // heads packed into a tile's rows; 1: none
  int ctas;        // at once, on the whole device
};

struct Schedule {
  std::vector<Work> work;
  std::vector<int> first_of_cta;  // empty: whoever is free takes the next piece
  int slots = 0, tickets = 0;
  std::vector<int> first_part;    // of each ticket: its first piece
  bool combines_later = false;    // the parts are added up by a second launch
};

// What a schedule may need at most, from the shape alone.
struct Bounds {
  long long work, slots, tickets;
};
Bounds bounds_of(const WhetAttentionShape& shape, const Tiling& tiling);

Schedule schedule(const WhetAttentionShape& shape, const WhetAttentionLengths& lengths, const Tiling& tiling);

}  // namespace whet_kernels
