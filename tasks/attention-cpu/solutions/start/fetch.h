// SPDX-License-Identifier: Apache-2.0
//
// Fetches what is needed later, a few lines at a time between products: a processor has some tens of misses under way
// and drops prefetches beyond those, so that a burst of them fetches next to nothing.
#pragma once

#include <cstddef>
#include <cstdint>

namespace start {

class Fetch {
 public:
  void clear() { count_ = next_ = 0, lines_ = 0, rows_ = 0; }

  // `rows` rows of `bytes`, `stride` apart, and beside each line the one `other` bytes away, unless that is 0.
  void add(const void* at, std::ptrdiff_t stride, std::int64_t rows, std::int64_t bytes, std::ptrdiff_t other = 0) {
    if (rows <= 0 || count_ == kMost) return;
    lines_ += rows * ((bytes + 63) / 64);
    blocks_[count_++] = {static_cast<const char*>(at), stride, rows, bytes, other};
  }

  // All of it in `calls` calls of step().
  void pace(std::int64_t calls) {
    quantum_ = static_cast<int>(calls > 0 ? (lines_ + calls - 1) / calls : 0);
    open();
  }

  void step() {
    for (int i = 0; i < quantum_ && rows_ > 0; ++i) {
      __builtin_prefetch(at_, 0, 2);
      if (other_ != 0) __builtin_prefetch(at_ + other_, 0, 2);
      at_ += 64;
      if (at_ >= end_) {
        row_ += stride_;
        --rows_;
        at_ = row_;
        end_ = row_ + bytes_;
        if (rows_ == 0) open();
      }
    }
  }

 private:
  struct Block {
    const char* at;
    std::ptrdiff_t stride;
    std::int64_t rows, bytes;
    std::ptrdiff_t other;
  };

  void open() {
    if (next_ == count_) return;
    const Block& b = blocks_[next_++];
    row_ = at_ = b.at;
    end_ = b.at + b.bytes;
    rows_ = b.rows, bytes_ = b.bytes, stride_ = b.stride, other_ = b.other;
  }

  static constexpr int kMost = 4;
  Block blocks_[kMost];
  int count_ = 0, next_ = 0, quantum_ = 0;
  std::int64_t lines_ = 0, rows_ = 0, bytes_ = 0;
  const char *row_ = nullptr, *at_ = nullptr, *end_ = nullptr;
  std::ptrdiff_t stride_ = 0, other_ = 0;
};

}  // namespace start
