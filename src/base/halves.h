// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace whet {

// Runs work(context) on a thread that waits for it between calls, and own(context) on the caller's, at the same time; false, and nothing done,
// where there is one core or that thread is busy. Neither may throw.
bool beside_each_other(void (*work)(void*), void (*own)(void*), void* context);

// body(begin, end) for the two halves of [0, count), cut at a multiple of `unit`, at the same time; for all of it at once where `count` is below
// `worth` (waking a thread costs tens of microseconds) or there is no second thread to be had. `body` throws nothing.
template <class Body>
void in_halves(int64_t count, int64_t unit, int64_t worth, const Body& body) {
  struct Halves {
    const Body& body;
    int64_t middle, count;
  } halves{body, count / 2 / unit * unit, count};
  const auto first = [](void* context) {
    const auto& h = *static_cast<Halves*>(context);
    h.body(int64_t{0}, h.middle);
  };
  const auto second = [](void* context) {
    const auto& h = *static_cast<Halves*>(context);
    h.body(h.middle, h.count);
  };
  if (count < worth || halves.middle == 0 || !beside_each_other(first, second, &halves)) body(int64_t{0}, count);
}

}  // namespace whet
