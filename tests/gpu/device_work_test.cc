// SPDX-License-Identifier: Apache-2.0
// The judge's own work on a device against the same work on the CPU.
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <random>

#include "tests/gpu/device.h"
#include "truth/measure/number_format.h"

namespace whet {
namespace {

constexpr Dtype kAll[] = {Dtype::float64,       Dtype::float32,     Dtype::float16, Dtype::bfloat16, Dtype::float8_e4m3fn, Dtype::float8_e5m2,
                          Dtype::float4_e2m1,   Dtype::int64,       Dtype::int32,   Dtype::int16,    Dtype::int8,          Dtype::boolean};
constexpr Dtype kFloats[] = {Dtype::float64, Dtype::float32, Dtype::float16, Dtype::bfloat16, Dtype::float8_e4m3fn, Dtype::float8_e5m2};

// A buffer on the device that holds these elements.
template <class Value>
DeviceBuffer on_device(const std::vector<Value>& values) {
  auto buffer = device()->allocate(values.size() * sizeof(Value), DeviceBuffer::Place::drawn, values.size());
  EXPECT_TRUE(buffer) << buffer.error().what;
  const auto written = device()->write(buffer->address(), {reinterpret_cast<const uint8_t*>(values.data()), values.size() * sizeof(Value)});
  EXPECT_TRUE(written) << written.error().what;
  return std::move(*buffer);
}

InputGenerator generator_for(Dtype dtype, std::vector<int64_t> shape, const Recipe& recipe) {
  Definition definition;
  definition.name = "d";
  Workload workload;
  std::vector<std::string> axes;
  for (size_t i = 0; i < shape.size(); ++i) {
    axes.push_back("n" + std::to_string(i));
    definition.axes.push_back({axes.back(), std::nullopt, ""});
    workload.axes[axes.back()] = shape[i];
  }
  definition.inputs = {{"x", axes, dtype, "", Role::activation}};
  workload.inputs["x"] = {InputSource::Kind::random, int64_t{0}, "", "", recipe};
  auto generator = InputGenerator::make(definition, workload, "x");
  EXPECT_TRUE(generator) << generator.error().what;
  return *generator;
}

// Every recipe, in whole and in stretches that begin and end anywhere.
void expect_same_bits(Dtype dtype, const std::vector<int64_t>& shape, const Recipe& recipe) {
  const auto generator = generator_for(dtype, shape, recipe);
  const auto count = generator.count();
  const auto bytes = static_cast<uint64_t>(count * size_of(dtype));
  auto buffer = device()->allocate(bytes, DeviceBuffer::Place::end, 0);
  ASSERT_OK(buffer);
  int draw = 0;
  for (const auto& [begin, end] : {std::pair<int64_t, int64_t>{0, count}, {1, count - 1}, {count / 3, count / 2}, {count - 40, count}, {5, 6}}) {
    SCOPED_TRACE(fmt::format("{} {} [{}, {})", name_of(dtype), name_of(recipe.kind), begin, end));
    const DrawKey key = derive_key("secret", "w", ++draw, "x");
    std::vector<uint8_t> want(bytes, 0x5a);
    ASSERT_OK(device()->write(buffer->address(), want));
    generator.write(key, begin, end, want.data());
    ASSERT_OK(device()->write(generator, key, begin, end, buffer->address()));
    const auto got = device()->read(buffer->address(), bytes);
    ASSERT_OK(got);
    ASSERT_TRUE(*got == want) << "first difference at byte " << std::mismatch(got->begin(), got->end(), want.begin()).first - got->begin();
  }
  const DeviceBuffer* buffers[] = {&*buffer};
  EXPECT_EQ(*device()->damage(buffers), std::vector<int64_t>{-1}) << "it wrote past the tensor";
}

TEST(DeviceGenerator, WritesTheBitsOfTheCpu) {
  for (const Dtype dtype : kAll) {
    Recipe recipe;
    recipe.scale = 1.75;
    recipe.peaks = 5;
    if (is_float(dtype)) {  // a task in which integers are drawn from a normal distribution is refused
      expect_same_bits(dtype, {4099}, recipe);
      recipe.kind = Recipe::Kind::planted;
      expect_same_bits(dtype, {41, 16}, recipe);
      expect_same_bits(dtype, {3, 1029}, recipe);
    }
    recipe.kind = Recipe::Kind::uniform;
    recipe.low = -3.3, recipe.high = 100.7;
    expect_same_bits(dtype, {4099}, recipe);
    recipe.kind = Recipe::Kind::constant;
    recipe.value = 0.3;
    expect_same_bits(dtype, {4099}, recipe);
  }
}

TEST(DeviceGenerator, DrawsIndicesAndPlansAlike) {
  Recipe recipe;
  recipe.kind = Recipe::Kind::index_below;
  recipe.of = "n0";
  for (const Dtype dtype : {Dtype::int64, Dtype::int32}) expect_same_bits(dtype, {5003}, recipe);
  recipe.kind = Recipe::Kind::page_permutation;
  expect_same_bits(Dtype::int32, {5003}, recipe);
  recipe.kind = Recipe::Kind::lengths;
  recipe.lengths = {3, 0, 70000};
  expect_same_bits(Dtype::int32, {5003}, recipe);
}

TEST(DeviceGenerator, CountsBeyondThirtyTwoBits) {
  const auto generator = generator_for(Dtype::float8_e4m3fn, {int64_t{1} << 33, 2}, Recipe{});
  const int64_t begin = (int64_t{1} << 33) + 1000, end = begin + 5000;
  const auto guard = device()->allocate(1 << 20, DeviceBuffer::Place::start, 0);
  ASSERT_OK(guard);
  const DrawKey key = derive_key("secret", "w", 1, "x");
  std::vector<uint8_t> want(5000);
  // The tensor's first element would lie far before the buffer; neither side touches anything but [begin, end).
  generator.write(key, begin, end, reinterpret_cast<uint8_t*>(reinterpret_cast<uintptr_t>(want.data()) - static_cast<uintptr_t>(begin)));
  ASSERT_OK(device()->write(generator, key, begin, end, guard->address() - static_cast<uint64_t>(begin)));
  EXPECT_EQ(*device()->read(guard->address(), 5000), want);
}

// `want` and something near it, with what a Solution can do wrong planted in it.
struct Pair {
  std::vector<uint8_t> got;
  std::vector<uint8_t> want;
  int64_t count;
};
Pair near_pair(Dtype dtype, int64_t count, double noise) {
  const Dtype reference = reference_dtype(dtype);
  Pair pair{std::vector<uint8_t>(static_cast<size_t>(count * size_of(dtype))), std::vector<uint8_t>(static_cast<size_t>(count * size_of(reference))), count};
  std::mt19937 random(7);
  std::normal_distribution<double> normal;
  for (int64_t i = 0; i < count; ++i) {
    const double value = normal(random);
    store_element(reference, pair.want.data(), i, value);
    store_element(dtype, pair.got.data(), i, value * (1 + noise * normal(random)));
  }
  return pair;
}

void expect_same_comparison(Dtype dtype, const Pair& pair, const Tolerance& tolerance, NanPolicy policy) {
  const Comparison want = compare(dtype, pair.got.data(), pair.want.data(), pair.count, tolerance, policy);
  const auto got_buffer = on_device(pair.got), want_buffer = on_device(pair.want);
  const auto magnitude = device()->magnitude_of(dtype, want_buffer.address(), pair.count);
  ASSERT_OK(magnitude);
  const Magnitude expected = magnitude_of(dtype, pair.want.data(), pair.count);
  EXPECT_NEAR(magnitude->squares, expected.squares, 1e-9 * (1 + expected.squares));
  EXPECT_EQ(magnitude->elements, expected.elements);
  const auto got = device()->compare(dtype, got_buffer.address(), want_buffer.address(), expected, pair.count, tolerance, policy);
  ASSERT_OK(got);
  EXPECT_EQ(got->passes, want.passes);
  EXPECT_EQ(got->failing, want.failing);
  EXPECT_EQ(got->not_finite, want.not_finite);
  if (want.failing > 0) {
    EXPECT_EQ(got->worst_index, want.worst_index);
    const auto same = [](double a, double b) { return a == b || (std::isnan(a) && std::isnan(b)); };  // the payload of a NaN is nobody's concern
    EXPECT_TRUE(same(got->got, want.got)) << got->got << " " << want.got;
    EXPECT_TRUE(same(got->want, want.want)) << got->want << " " << want.want;
  }
  // Where nothing fails the CPU may have measured in single precision.
  const auto near = [](double a, double b) { return a == b || std::fabs(a - b) <= 1e-5 * std::fabs(b); };
  EXPECT_TRUE(near(got->worst_bound, want.worst_bound)) << got->worst_bound << " " << want.worst_bound;
  EXPECT_TRUE(near(got->worst_absolute, want.worst_absolute)) << got->worst_absolute << " " << want.worst_absolute;
  EXPECT_TRUE(near(got->norm, want.norm)) << got->norm << " " << want.norm;
  EXPECT_GE(got->worst_relative, want.worst_relative * (1 - 1e-12));
}

TEST(DeviceCompare, SaysWhatTheCpuSays) {
  for (const Dtype dtype : kFloats)
    for (const double noise : {0.0, 1e-3, 0.3}) {
      SCOPED_TRACE(fmt::format("{} {}", name_of(dtype), noise));
      const Pair pair = near_pair(dtype, 30011, noise);
      expect_same_comparison(dtype, pair, {1e-2, 1e-2, -1}, NanPolicy::forbid);
      expect_same_comparison(dtype, pair, {1e-1, 1e-1, 1e-3}, NanPolicy::forbid);
      expect_same_comparison(dtype, pair, {1e-5, 0, -1}, NanPolicy::forbid);
    }
}

// Rows of exact zeros do not count in the rms, on neither side.
TEST(DeviceCompare, ExactZerosDoNotTightenTheBound) {
  for (const Dtype dtype : kFloats)
    for (const int64_t zeros : {int64_t{1}, int64_t{29000}, int64_t{30011}}) {
      SCOPED_TRACE(fmt::format("{} {}", name_of(dtype), zeros));
      Pair pair = near_pair(dtype, 30011, 3e-2);
      for (int64_t i = 0; i < zeros; ++i) {
        store_element(dtype, pair.got.data(), i, 0);
        store_element(reference_dtype(dtype), pair.want.data(), i, i % 2 ? 0.0 : -0.0);
      }
      expect_same_comparison(dtype, pair, {3e-2, 3e-2, -1}, NanPolicy::forbid);
      store_element(dtype, pair.got.data(), 0, 0.25);
      expect_same_comparison(dtype, pair, {1e-1, 1e-1, -1}, NanPolicy::forbid);
    }
}

TEST(DeviceCompare, FindsOneWrongElementAnywhere) {
  for (const int64_t at : {int64_t{0}, int64_t{1}, int64_t{255}, int64_t{256}, int64_t{20000}, int64_t{30010}}) {
    Pair pair = near_pair(Dtype::bfloat16, 30011, 0);
    store_element(Dtype::bfloat16, pair.got.data(), at, 9);
    expect_same_comparison(Dtype::bfloat16, pair, {1e-2, 1e-2, -1}, NanPolicy::forbid);
  }
}

TEST(DeviceCompare, FollowsTheNanPolicyAndTakesTheFirstOfTheWorst) {
  const double nan = std::numeric_limits<double>::quiet_NaN(), infinity = std::numeric_limits<double>::infinity();
  for (const Dtype dtype : {Dtype::float64, Dtype::float32, Dtype::float16, Dtype::bfloat16, Dtype::float8_e5m2})
    for (const NanPolicy policy : {NanPolicy::forbid, NanPolicy::match})
      for (const auto& [got, want] : {std::pair{nan, 1.0}, {1.0, nan}, {nan, nan}, {infinity, infinity}, {infinity, -infinity}, {-infinity, 0.5}}) {
        SCOPED_TRACE(fmt::format("{} got {} want {}", name_of(dtype), got, want));
        Pair pair = near_pair(dtype, 30011, 1e-3);
        for (const int64_t at : {int64_t{29000}, int64_t{777}, int64_t{12345}}) {
          store_element(dtype, pair.got.data(), at, got);
          store_element(reference_dtype(dtype), pair.want.data(), at, want);
        }
        expect_same_comparison(dtype, pair, {1e-1, 1e-1, -1}, policy);
      }
}

TEST(DeviceCompare, IntegersAreExact) {
  for (const Dtype dtype : {Dtype::int64, Dtype::int32, Dtype::int16, Dtype::int8, Dtype::boolean}) {
    Pair pair = near_pair(dtype, 5000, 0);
    pair.want = pair.got;
    expect_same_comparison(dtype, pair, {1, 1, -1}, NanPolicy::forbid);
    pair.got[static_cast<size_t>(4000 * size_of(dtype))] ^= 1;
    pair.got[static_cast<size_t>(4321 * size_of(dtype))] ^= 1;
    expect_same_comparison(dtype, pair, {1, 1, -1}, NanPolicy::forbid);
  }
}

TEST(DeviceCompare, CountsEqualElements) {
  for (const Dtype dtype : kAll) {
    const Pair pair = near_pair(dtype, 20011, 0);
    auto other = pair.got;
    for (size_t i = 3; i < other.size(); i += 1001) other[i] ^= 0x40;
    const auto a = on_device(pair.got), b = on_device(other);
    EXPECT_EQ(*device()->equal_elements(dtype, a.address(), b.address(), pair.count), equal_elements(dtype, pair.got.data(), other.data(), pair.count));
  }
}

TEST(DeviceConvert, RoundsAsTheCpuDoes) {
  // All exponents and many mantissas: every way to round, subnormals, overflow, NaN and infinity.
  std::vector<float> values;
  std::mt19937 random(3);
  for (int i = 0; i < 200000; ++i) values.push_back(std::bit_cast<float>(static_cast<uint32_t>(random())));
  for (uint32_t bits = 0; bits < 65536; ++bits) values.push_back(std::bit_cast<float>(bits << 16)), values.push_back(std::bit_cast<float>((bits << 16) | 0x8000u));
  for (uint32_t bits = 0; bits < 65536; ++bits) values.push_back(float_from_small(bits, 5, 10, true) * 1.0004f);
  const auto from = on_device(values);
  const auto count = static_cast<int64_t>(values.size());
  for (const Dtype dtype : {Dtype::float32, Dtype::float16, Dtype::bfloat16, Dtype::float8_e4m3fn, Dtype::float8_e5m2}) {
    std::vector<uint8_t> want(static_cast<size_t>(count * size_of(dtype)));
    convert_expected(dtype, values.data(), count, want.data());
    const auto out = device()->allocate(want.size(), DeviceBuffer::Place::start, 0);
    ASSERT_OK(out);
    ASSERT_OK(device()->convert_expected(dtype, from.address(), count, out->address()));
    const auto got = device()->read(out->address(), want.size());
    ASSERT_OK(got);
    int64_t different = 0, first = -1;
    for (int64_t i = 0; i < count; ++i) {
      const auto at = static_cast<size_t>(i * size_of(dtype));
      if (std::memcmp(got->data() + at, want.data() + at, static_cast<size_t>(size_of(dtype))) != 0 && different++ == 0) first = i;
    }
    EXPECT_EQ(different, 0) << name_of(dtype) << ": first for the bits " << (first >= 0 ? std::bit_cast<uint32_t>(values[static_cast<size_t>(first)]) : 0);
  }
}

TEST(DeviceDigest, IsThatOfTheHostAndSeesEveryByte) {
  for (const size_t size : {size_t{0}, size_t{1}, size_t{7}, size_t{8}, size_t{4099}, size_t{3000001}}) {
    std::vector<uint8_t> bytes(size);
    std::mt19937 random(1);
    for (auto& byte : bytes) byte = static_cast<uint8_t>(random());
    const auto buffer = on_device(bytes);
    EXPECT_EQ(*device()->digest(buffer.address(), size), device_digest(bytes.data(), size)) << size;
  }
  std::vector<uint8_t> bytes(1000);
  const uint64_t before = device_digest(bytes.data(), bytes.size());
  for (auto& byte : bytes) {
    byte = 1;
    EXPECT_NE(device_digest(bytes.data(), bytes.size()), before);
    byte = 0;
  }
  std::vector<uint64_t> words = {1, 2, 3, 4}, swapped = {1, 3, 2, 4};
  EXPECT_NE(device_digest(words.data(), 32), device_digest(swapped.data(), 32));
}

TEST(DeviceMemory, DamageIsFoundOnEitherSide) {
  auto buffer = device()->allocate(1000, DeviceBuffer::Place::drawn, 12345);
  auto whole = device()->allocate(1000, DeviceBuffer::Place::end, 0);
  ASSERT_OK(buffer);
  ASSERT_OK(whole);
  const DeviceBuffer* both[] = {&*buffer, &*whole};
  EXPECT_EQ(*device()->damage(both), (std::vector<int64_t>{-1, -1}));
  const uint8_t zero[] = {0};
  for (const int64_t distance : {int64_t{1}, int64_t{9}, int64_t{4000}}) {
    ASSERT_OK(device()->write(buffer->address() + 1000 + static_cast<uint64_t>(distance) - 1, zero));
    EXPECT_EQ(*device()->damage(both), (std::vector<int64_t>{distance, -1}));
    ASSERT_OK(device()->paint_red_zones(*buffer));
    ASSERT_OK(device()->write(buffer->address() - static_cast<uint64_t>(distance), zero));
    EXPECT_EQ(*device()->damage(both), (std::vector<int64_t>{distance, -1}));
    ASSERT_OK(device()->paint_red_zones(*buffer));
  }
  EXPECT_EQ(*device()->damage(both), (std::vector<int64_t>{-1, -1}));
}

}  // namespace
}  // namespace whet
