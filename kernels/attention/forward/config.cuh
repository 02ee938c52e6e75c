// SPDX-License-Identifier: Apache-2.0
//
// What is fixed when an instance is compiled.
#pragma once

namespace whet_kernels {

// Consumers are warpgroups of 64 query rows each; the producer is one more warpgroup (or one warp where there is a single consumer) behind them.
template <class T_, int kD_, int kDv_, int kConsumers_, int kKeys_, int kStages_, bool kSoftcap_>
struct Config {
  using T = T_;
  static constexpr int kD = kD_, kDv = kDv_, kConsumers = kConsumers_, kKeys = kKeys_, kStages = kStages_;
  static constexpr bool kSoftcap = kSoftcap_;
  static constexpr int kRows = 64 * kConsumers;

  // 96 columns are three blocks of 32; all others are blocks of 64.
  static constexpr int kColumns = kD % 64 == 0 && kDv % 64 == 0 ? 64 : 32;
  static constexpr int kBlocks = kD / kColumns, kBlocksV = kDv / kColumns;

  static constexpr bool kAlone = kConsumers == 1;
  static constexpr int kThreads = 128 * kConsumers + (kAlone ? 32 : 128);
  // Two small CTAs share a multiprocessor where their buffers allow.
  static constexpr int kQBytes = kRows * kD * 2, kKBytes = kKeys * kD * 2, kVBytes = kKeys * kDv * 2;
  static constexpr int kBuffers = kQBytes + kStages * (kKBytes + kVBytes);
  static constexpr int kSharedBytes = kBuffers + 512;
  static constexpr int kCtas = 2 * (kSharedBytes + 1024) <= 228 * 1024 && kAlone ? 2 : 1;
  static_assert(kSharedBytes <= 227 * 1024);
  // Registers per thread; the sum over all warpgroups of the CTA is at most 512.
  static constexpr int kProducerRegisters = kConsumers == 3 ? 32 : 40;
  static constexpr int kConsumerRegisters = kConsumers == 3 ? 160 : 232;
  // Softmax of one warpgroup under the products of the other; at 192 columns and more the products are long enough without.
  static constexpr bool kTurns = kConsumers > 1 && kD <= 128;
};

// Offsets in shared memory, from a base that is a multiple of 1024.
template <class C>
struct Shared {
  static constexpr int kQ = 0, kK = C::kQBytes, kV = kK + C::kStages * C::kKBytes, kBarriers = kV + C::kStages * C::kVBytes;
  static constexpr int kQFull = kBarriers, kQEmpty = kQFull + 8;
  static constexpr int kKFull = kQEmpty + 8, kKEmpty = kKFull + 8 * C::kStages;
  static constexpr int kVFull = kKEmpty + 8 * C::kStages, kVEmpty = kVFull + 8 * C::kStages;
  static constexpr int kWork = kBarriers + 256;  // two of them, turn by turn
  static constexpr int kLast = kWork + 2 * 80;   // one word per consumer
  static_assert(kVEmpty + 8 * C::kStages <= kWork && kLast + 16 <= C::kSharedBytes);
};

// A place in a ring of kStages buffers, and the parity of the round.
template <int kStages>
struct Ring {
  int stage = 0;
  unsigned parity = 0;
  __device__ void advance() {
    if (++stage == kStages) {
      stage = 0;
      parity ^= 1;
    }
  }
};

}  // namespace whet_kernels
