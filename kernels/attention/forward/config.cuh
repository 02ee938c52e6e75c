// SPDX-License-Identifier: Apache-2.0
//
// What is fixed when an instance is compiled.
#pragma once

#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_fp8.h>

#include <type_traits>

namespace whet_kernels {

// How keys and values arrive.
enum class Kv {
  same,       // of the type of the products
  latent,     // values are the first columns of the keys; consumers share 64 rows and split the columns of the output
  eight,      // e4m3 queries, keys and values: scores by 8-bit products, values made fp16 on arrival
  eight_keys  // bf16 queries, e4m3 keys and values: both made bf16 on arrival
};

// T: of the weights and values in the second product. Consumers are warpgroups of 64 query rows each; the producer is one more warpgroup behind
// them (or one warp, where there is a single consumer and nothing to convert).
template <class T_, int kD_, int kDv_, int kConsumers_, int kKeys_, int kStages_, bool kSoftcap_ = false, Kv kKv_ = Kv::same>
struct Config {
  using T = T_;
  static constexpr int kD = kD_, kDv = kDv_, kConsumers = kConsumers_, kKeys = kKeys_, kStages = kStages_;
  static constexpr bool kSoftcap = kSoftcap_;
  static constexpr Kv kKv = kKv_;
  static constexpr bool kLatent = kKv == Kv::latent, kConvertV = kKv == Kv::eight || kKv == Kv::eight_keys, kConvertK = kKv == Kv::eight_keys;
  using Score = std::conditional_t<kKv == Kv::eight, __nv_fp8_e4m3, T>;     // of the first product
  using Output = std::conditional_t<kKv == Kv::eight, __nv_bfloat16, T>;
  static constexpr int kRows = kLatent ? 64 : 64 * kConsumers;
  static constexpr int kDvOwn = kLatent ? kDv / kConsumers : kDv;           // columns of the output that a consumer sums

  // Operands lie in blocks whose rows have 128 bytes, or 64 where columns are no multiple of that (96 columns are three blocks of 32).
  static constexpr int kScoreBytes = sizeof(Score);
  static constexpr int kRowBytes = kD * kScoreBytes % 128 == 0 ? 128 : 64, kBlocks = kD * kScoreBytes / kRowBytes;
  static constexpr int kRowBytesV = kDv * 2 % 128 == 0 ? 128 : 64, kBlocksV = kDv * 2 / kRowBytesV;
  static_assert(kD * kScoreBytes % kRowBytes == 0 && kDv * 2 % kRowBytesV == 0);

  static constexpr bool kAlone = kConsumers == 1;
  static constexpr bool kSmallProducer = kAlone && !kConvertV;
  static constexpr int kThreads = 128 * kConsumers + (kSmallProducer ? 32 : 128);
  static constexpr int kConverterWarps = 3;
  static constexpr bool kTwoProducers = !kSmallProducer && !kConvertV && !kLatent;  // one warp for Q and K, one for V

  // Tiles that products read, and what the copy engine fills: the same, or e4m3 rows that are converted into a ring of two tiles.
  static constexpr int kQBytes = kRows * kD * kScoreBytes, kKBytes = kKeys * kD * kScoreBytes, kVBytes = kLatent ? 0 : kKeys * kDv * 2;
  static constexpr int kTilesK = kConvertK ? 2 : kStages, kTilesV = kConvertV ? 2 : kStages;
  static constexpr int kLoadKBytes = kConvertK ? kKeys * kD : kKBytes, kLoadVBytes = kConvertV ? kKeys * kDv : kVBytes;
  static constexpr int kOther = kTilesK * kKBytes + kTilesV * kVBytes + (kConvertK ? kStages * kLoadKBytes : 0) + (kConvertV ? kStages * kLoadVBytes : 0);
  // Queries of the next piece are loaded under this one where there is room.
  static constexpr int kQBuffers = kConsumers == 2 && !kLatent && 2 * kQBytes + kOther <= 224 * 1024 ? 2 : 1;
  static constexpr int kBuffers = kQBuffers * kQBytes + kOther;
  static constexpr int kSharedBytes = kBuffers + 768;
  static_assert(kSharedBytes <= 227 * 1024);
  static_assert(!(kConvertV && kConsumers == 3), "no registers are left for the converter");
  // Two small CTAs share a multiprocessor where their buffers allow, three where registers do too.
  static constexpr int kFit = 228 * 1024 / (kSharedBytes + 1024);
  static constexpr int kCtas = !kAlone || kFit < 2 ? 1 : kFit > 2 && kSmallProducer && kD <= 64 && kKeys <= 64 ? 3 : 2;
  // Registers per thread; the sum over all warpgroups of a multiprocessor is at most 512. A single consumer with a multiprocessor to itself has enough.
  static constexpr bool kRebalances = !kSmallProducer && (!kAlone || kCtas == 2);
  static constexpr int kProducerRegisters = kConvertV ? 56 : kConsumers == 3 ? 32 : 40;
  static constexpr int kConsumerRegisters = kAlone ? 200 : kConsumers == 3 ? 160 : kConvertV ? 224 : 232;
  // Softmax of one warpgroup under the products of the other; at 192 columns and more the products are long enough without.
  static constexpr bool kTurns = kConsumers > 1 && kD <= 128;
};

// Offsets in shared memory, from a base that is a multiple of 1024. "Load" is what the copy engine fills.
template <class C>
struct Shared {
  static constexpr int kQ = 0, kK = C::kQBuffers * C::kQBytes, kV = C::kLatent ? kK : kK + C::kTilesK * C::kKBytes;
  static constexpr int kAfterTiles = kK + C::kTilesK * C::kKBytes + C::kTilesV * C::kVBytes;
  static constexpr int kLoadK = C::kConvertK ? kAfterTiles : kK;
  static constexpr int kLoadV = C::kConvertV ? kAfterTiles + (C::kConvertK ? C::kStages * C::kLoadKBytes : 0) : kV;
  // Barriers: of Q; then, per ring, eight bytes for each place, full ones and empty ones.
  static constexpr int kBarriers = C::kBuffers, kRing = 8 * 4;
  static constexpr int kQFull = kBarriers, kQEmpty = kQFull + 16;
  static constexpr int kKFull = kQEmpty + 16, kKEmpty = kKFull + kRing, kVFull = kKEmpty + kRing, kVEmpty = kVFull + kRing;
  static constexpr int kLoadKFull = C::kConvertK ? kVEmpty + kRing : kKFull, kLoadKEmpty = C::kConvertK ? kLoadKFull + kRing : kKEmpty;
  static constexpr int kLoadVFull = C::kConvertV ? kVEmpty + 3 * kRing : kVFull, kLoadVEmpty = C::kConvertV ? kLoadVFull + kRing : kVEmpty;
  // Words of the pieces of work, turn by turn. Four places, so that the next piece's first keys can be asked for before its predecessor's queries are
  // done with: whoever wants the words of turn t is past turn t - 2.
  static constexpr int kWork = kBarriers + 384;
  static constexpr int kLast = kWork + 4 * 80;   // one word per consumer
  static_assert(C::kStages <= 4 && kLoadVEmpty + kRing <= kWork && kLast + 16 <= C::kSharedBytes);
};

// Queries and words of turn t: the place of Q, and the parity of its round.
template <class C>
__device__ constexpr int q_place(int turn) { return turn % C::kQBuffers; }
template <class C>
__device__ constexpr unsigned q_parity(int turn) { return turn / C::kQBuffers & 1; }

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
