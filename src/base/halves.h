// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <thread>

namespace whet {

// body(begin, end) for the two halves of [0, count), cut at a multiple of `unit`, at the same time; for all of it at once where `count` is below
// `worth` (a thread costs tens of microseconds) or there is one core. `body` throws nothing.
template <class Body>
void in_halves(int64_t count, int64_t unit, int64_t worth, const Body& body) {
  const int64_t middle = count / 2 / unit * unit;
  if (count < worth || middle == 0 || std::thread::hardware_concurrency() < 2) return body(int64_t{0}, count);
  std::thread other([&] { body(int64_t{0}, middle); });
  body(middle, count);
  other.join();
}

}  // namespace whet
