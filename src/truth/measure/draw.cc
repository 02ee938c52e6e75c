// SPDX-License-Identifier: Apache-2.0
#include "truth/measure/draw.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/hash.h"
#include "truth/measure/number_format.h"
#include "truth/measure/vectorise.h"

namespace whet {
namespace {

// Inverse of the standard normal distribution function (Acklam's rational approximation, one step of Halley's method): error below 1e-15.
double normal_quantile(double p) {
  static constexpr double a[] = {-3.969683028665376e+01, 2.209460984245205e+02, -2.759285104469687e+02, 1.383577518672690e+02, -3.066479806614716e+01, 2.506628277459239e+00};
  static constexpr double b[] = {-5.447609879822406e+01, 1.615858368580409e+02, -1.556989798598866e+02, 6.680131188771972e+01, -1.328068155288572e+01};
  static constexpr double c[] = {-7.784894002430293e-03, -3.223964580411365e-01, -2.400758277161838e+00, -2.549732539343734e+00, 4.374664141464968e+00, 2.938163982698783e+00};
  static constexpr double d[] = {7.784695709041462e-03, 3.224671290700398e-01, 2.445134137142996e+00, 3.754408661907416e+00};
  double x;
  if (p < 0.02425) {
    const double q = std::sqrt(-2 * std::log(p));
    x = (((((c[0] * q + c[1]) * q + c[2]) * q + c[3]) * q + c[4]) * q + c[5]) / ((((d[0] * q + d[1]) * q + d[2]) * q + d[3]) * q + 1);
  } else {
    const double q = p - 0.5, r = q * q;
    x = (((((a[0] * r + a[1]) * r + a[2]) * r + a[3]) * r + a[4]) * r + a[5]) * q / (((((b[0] * r + b[1]) * r + b[2]) * r + b[3]) * r + b[4]) * r + 1);
  }
  const double error = 0.5 * std::erfc(-x / std::sqrt(2.0)) - p;
  const double step = error * std::sqrt(2 * M_PI) * std::exp(x * x / 2);
  return x - step / (1 + x * step / 2);
}

// A block takes 512 counters; the high half of each word serves the first 512 elements, the low half the others, so that the loop vectorises
// without a shuffle. (A shorter loop is unrolled by the compiler before it could become a gather.)
constexpr int64_t kHalf = 512, kBlock = 2 * kHalf;

template <class Stored>
WHET_VECTORISED void fill_blocks(const DrawKey& key, const uint32_t* __restrict table, int64_t first_block, int64_t blocks, Stored* __restrict out) {
  const DrawKey k = key;
  for (int64_t block = 0; block < blocks; ++block) {
    const auto counter = static_cast<uint64_t>(first_block + block) * kHalf;
    const auto low = static_cast<uint32_t>(counter), high = static_cast<uint32_t>(counter >> 32);
    Stored* __restrict to = out + block * kBlock;
    uint32_t words[kHalf];
    for (uint32_t lane = 0; lane < kHalf; ++lane) words[lane] = random_bits(k, low + lane, high);
    for (uint32_t lane = 0; lane < kHalf; ++lane) to[lane] = static_cast<Stored>(table[words[lane] >> (32 - kQuantileBits)]);
    for (uint32_t lane = 0; lane < kHalf; ++lane)
      to[lane + kHalf] = static_cast<Stored>(table[(words[lane] >> (16 - kQuantileBits)) & ((1u << kQuantileBits) - 1)]);
  }
}

template <class Stored>
void fill_normal(const DrawKey& key, const uint32_t* table, int64_t begin, int64_t end, Stored* data) {
  const auto partial = [&](int64_t block, int64_t from, int64_t to) {
    Stored whole[kBlock];
    fill_blocks<Stored>(key, table, block, 1, whole);
    std::copy(whole + (from - block * kBlock), whole + (to - block * kBlock), data + from);
  };
  int64_t block = begin / kBlock;
  if (begin % kBlock != 0) {
    partial(block, begin, std::min(end, (block + 1) * kBlock));
    ++block;
  }
  const int64_t whole_blocks = std::max<int64_t>(0, end / kBlock - block);
  if (block * kBlock < end) fill_blocks<Stored>(key, table, block, whole_blocks, data + block * kBlock);
  block += whole_blocks;
  if (block * kBlock < end && end % kBlock != 0) partial(block, block * kBlock, end);
}

uint32_t bits_at(const DrawKey& key, int64_t index, uint32_t stream) {
  DrawKey other = key;
  other.words[2] ^= stream * 0x85ebca6bu;
  return random_bits(other, static_cast<uint32_t>(index), static_cast<uint32_t>(static_cast<uint64_t>(index) >> 32));
}

uint64_t below(uint32_t bits, uint64_t bound) { return (uint64_t{bits} * bound) >> 32; }

}  // namespace

DrawKey derive_key(const std::string& secret, const std::string& workload, int draw, const std::string& tensor) {
  const auto digest = Sha256().update(fmt::format("{}\n{}\n{}\n{}", secret, workload, draw, tensor)).digest();
  DrawKey key;
  for (int i = 0; i < 16; ++i) key.words[static_cast<size_t>(i / 4)] |= uint32_t{digest[static_cast<size_t>(i)]} << (8 * (i % 4));
  return key;
}

const std::array<float, 1 << kQuantileBits>& normal_quantiles() {
  static const auto kTable = [] {
    std::array<float, 1 << kQuantileBits> table{};
    const size_t n = table.size();
    for (size_t i = 0; i < n / 2; ++i) {
      table[i] = static_cast<float>(normal_quantile((static_cast<double>(i) + 0.5) / static_cast<double>(n)));
      table[n - 1 - i] = -table[i];
    }
    return table;
  }();
  return kTable;
}

Expected<InputGenerator> InputGenerator::make(const Definition& definition, const Workload& workload, const std::string& input) {
  const TensorSpec* spec = definition.input(input);
  const auto source = workload.inputs.find(input);
  if (!spec || spec->is_scalar()) return bad_input("workload {}: {} is no tensor input of {}", workload.name, input, definition.name);
  InputGenerator generator;
  generator.dtype_ = spec->dtype;
  const auto shape = shape_of(definition, *spec, workload.axes);
  generator.count_ = element_count(shape);
  generator.row_ = shape.empty() ? 1 : std::max<int64_t>(1, shape.back());
  if (source != workload.inputs.end() && source->second.kind == InputSource::Kind::safetensors)
    return bad_input("workload {}: the input {} comes from {}, and this worker generates its inputs; give it a recipe under whet.recipes", workload.name,
                     input, source->second.path);
  if (source != workload.inputs.end()) generator.recipe_ = source->second.recipe;
  const Recipe& recipe = generator.recipe_;
  if (recipe.kind == Recipe::Kind::index_below) generator.bound_ = workload.axes.count(recipe.of) ? workload.axes.at(recipe.of) : definition.axis(recipe.of)->value.value_or(1);
  if (recipe.kind == Recipe::Kind::cumsum_of) {
    const auto summed = workload.inputs.find(recipe.of);
    if (summed == workload.inputs.end()) return bad_input("workload {}: cumsum_of names the unknown input {}", workload.name, recipe.of);
    generator.summed_ = summed->second.recipe.lengths;
  }
  if (recipe.kind == Recipe::Kind::normal || recipe.kind == Recipe::Kind::planted) {
    for (float quantile : normal_quantiles()) generator.table_.push_back(bits_of(spec->dtype, static_cast<float>(quantile * recipe.scale)));
  }
  return generator;
}

bool InputGenerator::separable() const {
  return recipe_.kind == Recipe::Kind::normal || recipe_.kind == Recipe::Kind::uniform || recipe_.kind == Recipe::Kind::planted || recipe_.kind == Recipe::Kind::index_below;
}

void InputGenerator::write_normal(const DrawKey& key, int64_t begin, int64_t end, void* data) const {
  switch (size_of(dtype_)) {
    case 1: fill_normal(key, table_.data(), begin, end, static_cast<uint8_t*>(data)); break;
    case 2: fill_normal(key, table_.data(), begin, end, static_cast<uint16_t*>(data)); break;
    case 4: fill_normal(key, table_.data(), begin, end, static_cast<uint32_t*>(data)); break;
    default:
      for (int64_t i = begin; i < end; ++i)
        static_cast<double*>(data)[i] = normal_quantiles()[bits_at(key, i, 0) >> (32 - kQuantileBits)] * recipe_.scale;
  }
}

void InputGenerator::write_slowly(const DrawKey& key, int64_t begin, int64_t end, void* data) const {
  const bool integer = !is_float(dtype_);
  for (int64_t i = begin; i < end; ++i) {
    double value = recipe_.value;
    switch (recipe_.kind) {
      case Recipe::Kind::uniform: {
        const double part = (bits_at(key, i, 0) + 0.5) / 4294967296.0;
        value = integer ? std::floor(recipe_.low + (recipe_.high - recipe_.low + 1) * part) : recipe_.low + (recipe_.high - recipe_.low) * part;
        break;
      }
      case Recipe::Kind::index_below: value = static_cast<double>(below(bits_at(key, i, 0), static_cast<uint64_t>(std::max<int64_t>(1, bound_)))); break;
      case Recipe::Kind::lengths: value = static_cast<double>(recipe_.lengths[static_cast<size_t>(i) % recipe_.lengths.size()]); break;
      case Recipe::Kind::cumsum_of: value = static_cast<double>(std::accumulate(summed_.begin(), summed_.begin() + std::min<int64_t>(i, static_cast<int64_t>(summed_.size())), int64_t{0})); break;
      default: break;
    }
    store_element(dtype_, data, i, value);
  }
}

void InputGenerator::write(const DrawKey& key, int64_t begin, int64_t end, void* data) const {
  switch (recipe_.kind) {
    case Recipe::Kind::normal:
      write_normal(key, begin, end, data);
      break;
    case Recipe::Kind::planted:
      write_normal(key, begin, end, data);
      for (int64_t row = begin / row_; row * row_ < end; ++row)
        for (int64_t peak = 0; peak < recipe_.peaks; ++peak) {
          const uint32_t bits = bits_at(key, row, static_cast<uint32_t>(peak) + 1);
          const int64_t index = row * row_ + static_cast<int64_t>(below(bits, static_cast<uint64_t>(row_)));
          if (index >= begin && index < end) store_element(dtype_, data, index, (bits & 1 ? 8 : -8) * recipe_.scale);
        }
      break;
    case Recipe::Kind::page_permutation: {
      // Fisher-Yates from the key; the whole tensor at once.
      std::vector<int64_t> order(static_cast<size_t>(count_));
      std::iota(order.begin(), order.end(), int64_t{0});
      for (int64_t i = count_ - 1; i > 0; --i) std::swap(order[static_cast<size_t>(i)], order[below(bits_at(key, i, 0), static_cast<uint64_t>(i) + 1)]);
      for (int64_t i = begin; i < end; ++i) store_element(dtype_, data, i, static_cast<double>(order[static_cast<size_t>(i)]));
      break;
    }
    default:
      write_slowly(key, begin, end, data);
  }
}

}  // namespace whet
