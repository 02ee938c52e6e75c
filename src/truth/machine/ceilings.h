// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "base/json.h"
#include "record/dtype.h"

namespace whet {

// What the cores can do together, measured: best of some repetitions, so rather too high than too low.
struct Ceilings {
  double read_gb_per_s = 0;    // reading memory that is in no cache
  double f32_gflop_per_s = 0;  // fused multiply-adds count two
  std::string vector_unit;     // "avx512f", "avx2+fma", "baseline"
  bool has_amx = false;        // matrix tiles, which multiply bfloat16 and int8 many times faster
  int threads = 0;
  double seconds = 0;  // that measuring took
};

// Takes less than 300 ms on idle cores. Nothing else should run on them meanwhile.
Ceilings measure_ceilings(const std::vector<int>& cores);
Json to_json(const Ceilings& ceilings);

// The time below which no correct Solution can be: by bytes that must come from memory, and by arithmetic that must be done. Generous: slack on
// the measured rates (clocks that boost, neighbours that were loud while we measured), and the fastest arithmetic that the dtype allows.
class Roofline {
 public:
  explicit Roofline(const Ceilings& ceilings) : ceilings_(ceilings) {}

  // `bytes` counts what was flushed and must be read at least once (0 for the resident column); `flops` a multiply-add as two.
  double floor_ns(double bytes, double flops, Dtype dtype) const;
  double peak_gflop_per_s(Dtype dtype) const;  // with slack
  double peak_gb_per_s() const;                // with slack

 private:
  Ceilings ceilings_;
};

}  // namespace whet
