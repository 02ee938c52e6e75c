// SPDX-License-Identifier: Apache-2.0
#include "truth/gpu/device_work.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

#include "truth/measure/mutation.h"
#include "truth/measure/number_format.h"

namespace whet {
namespace {

constexpr unsigned kThreads = 256;  // of a block: what device_checks.cu reduces
constexpr size_t kResultBytes = 4096;

static_assert(static_cast<int>(Dtype::float64) == gpu::kFloat64 && static_cast<int>(Dtype::float16) == gpu::kFloat16 && static_cast<int>(Dtype::bfloat16) == gpu::kBfloat16 &&
              static_cast<int>(Dtype::float8_e4m3fn) == gpu::kE4m3 && static_cast<int>(Dtype::float8_e5m2) == gpu::kE5m2 && static_cast<int>(Dtype::int64) == gpu::kInt64 &&
              static_cast<int>(Dtype::boolean) == gpu::kBool);
static_assert(1 << kQuantileBits == gpu::kQuantiles);

int32_t format_of(Dtype dtype) { return static_cast<int32_t>(dtype); }

gpu::Key device_key(const DrawKey& key) {
  gpu::Key copy;
  std::copy(key.words.begin(), key.words.end(), copy.words);
  return copy;
}

// The widest word that all of these are multiples of.
template <class... Extents>
int32_t common_width(Extents... extents) {
  const uint64_t all = (static_cast<uint64_t>(extents) | ... | 16u);
  return static_cast<int32_t>(all & (~all + 1));
}

}  // namespace

Expected<std::unique_ptr<DeviceWork>> DeviceWork::open(int ordinal) {
  auto self = std::unique_ptr<DeviceWork>(new DeviceWork());
  WHET_TRY(self->code_, DeviceCode::open(ordinal));
  self->driver_ = &self->code_->driver();
  const cuda::Driver& driver = *self->driver_;
  WHET_OK(driver.check(driver.stream_create(&self->stream_, cuda::kStreamDefault), "making a stream"));
  WHET_OK(driver.check(driver.allocate(&self->parts_, std::max(sizeof(gpu::Part) * self->code_->blocks_for(int64_t{1} << 40), sizeof(double) * kMeanLanes)), "allocating device memory"));
  WHET_TRY(self->result_, PinnedMemory::make(driver, kResultBytes));
  return self;
}

DeviceWork::~DeviceWork() {
  if (!code_ || !code_->make_current()) return;
  for (const auto& [which, table] : tables_) (void)driver_->free(table);
  if (parts_) (void)driver_->free(parts_);
  if (stream_) (void)driver_->stream_destroy(stream_);
}

Expected<DeviceBuffer> DeviceWork::allocate(uint64_t bytes, DeviceBuffer::Place place, uint64_t draw) {
  WHET_OK(code_->make_current());
  WHET_TRY(DeviceBuffer buffer, DeviceBuffer::make(*code_, bytes, place, draw));
  WHET_OK(paint_red_zones(buffer));
  return buffer;
}

// The quantiles in the tensor's format, as the generator has them; those of float64 are made here.
Expected<cuda::Address> DeviceWork::table_of(const InputGenerator& generator) {
  const std::pair which{generator.dtype(), std::bit_cast<uint64_t>(generator.recipe().scale)};
  if (const auto known = tables_.find(which); known != tables_.end()) return known->second;
  std::vector<uint64_t> wide;
  std::span<const uint8_t> bytes(reinterpret_cast<const uint8_t*>(generator.table().data()), generator.table().size() * 4);
  if (generator.dtype() == Dtype::float64) {
    for (float quantile : normal_quantiles()) wide.push_back(std::bit_cast<uint64_t>(quantile * generator.recipe().scale));
    bytes = {reinterpret_cast<const uint8_t*>(wide.data()), wide.size() * 8};
  }
  cuda::Address table = 0;
  WHET_OK(driver_->check(driver_->allocate(&table, bytes.size()), "allocating a table of quantiles"));
  tables_[which] = table;
  WHET_OK(write(table, bytes));
  return table;
}

Status DeviceWork::write(const InputGenerator& generator, const DrawKey& key, int64_t begin, int64_t end, cuda::Address data) {
  if (begin >= end) return {};
  WHET_OK(code_->make_current());
  switch (generator.recipe().kind) {
    case Recipe::Kind::normal:
    case Recipe::Kind::uniform:
    case Recipe::Kind::index_below:
    case Recipe::Kind::constant:
      return generate(generator, device_key(key), begin, end, data);
    case Recipe::Kind::planted:
      WHET_OK(generate(generator, device_key(key), begin, end, data));
      return plant(generator, device_key(key), begin, end, data);
    default: break;
  }
  const auto width = static_cast<uint64_t>(size_of(generator.dtype()));
  std::vector<uint8_t> host(static_cast<uint64_t>(generator.count()) * width);
  generator.write(key, begin, end, host.data());
  const uint64_t from = static_cast<uint64_t>(begin) * width, bytes = static_cast<uint64_t>(end - begin) * width;
  return write(data + from, std::span(host).subspan(from, bytes));
}

Status DeviceWork::generate(const InputGenerator& generator, const gpu::Key& key, int64_t begin, int64_t end, cuda::Address data) {
  const Recipe& recipe = generator.recipe();
  const Dtype dtype = generator.dtype();
  const int64_t count = end - begin;
  if (recipe.kind == Recipe::Kind::normal || recipe.kind == Recipe::Kind::planted) {
    WHET_TRY(const cuda::Address table, table_of(generator));
    const gpu::NormalArguments arguments{data, table, begin, end, key};
    const Kernel kernel = size_of(dtype) == 1 ? Kernel::normal_1 : size_of(dtype) == 2 ? Kernel::normal_2 : size_of(dtype) == 4 ? Kernel::normal_4 : Kernel::normal_8;
    return code_->launch(kernel, code_->blocks_for(kernel == Kernel::normal_8 ? count : (count + 2048) / 16), 1, kThreads, &arguments, stream_);
  }
  if (recipe.kind == Recipe::Kind::constant) {
    const gpu::FillArguments arguments{data, begin, end, element_bits(dtype, recipe.value), static_cast<int32_t>(size_of(dtype)), 0};
    return code_->launch(Kernel::fill, code_->blocks_for(count), 1, kThreads, &arguments, stream_);
  }
  gpu::ElementArguments arguments = {};
  arguments.data = data, arguments.begin = begin, arguments.end = end, arguments.key = key;
  arguments.format = format_of(dtype);
  arguments.is_index = recipe.kind == Recipe::Kind::index_below;
  arguments.is_integer = !is_float(dtype);
  arguments.bound = static_cast<uint64_t>(std::max<int64_t>(1, generator.bound()));
  arguments.low = recipe.low;
  arguments.span = arguments.is_integer ? recipe.high - recipe.low + 1 : recipe.high - recipe.low;
  return code_->launch(Kernel::elements, code_->blocks_for(count), 1, kThreads, &arguments, stream_);
}

Status DeviceWork::plant(const InputGenerator& generator, const gpu::Key& key, int64_t begin, int64_t end, cuda::Address data) {
  const double peak = 8 * generator.recipe().scale;
  const Dtype dtype = generator.dtype();
  gpu::PlantArguments arguments = {data, begin, end, generator.row(), generator.recipe().peaks, key, static_cast<int32_t>(size_of(dtype)), 0, element_bits(dtype, peak), element_bits(dtype, -peak)};
  return code_->launch(Kernel::plant, code_->blocks_for((end - begin) / generator.row() + 2), 1, kThreads, &arguments, stream_);
}

Status DeviceWork::write(cuda::Address data, std::span<const uint8_t> bytes) {
  if (bytes.empty()) return {};
  WHET_OK(code_->make_current());
  return driver_->check(driver_->copy_to_device(data, bytes.data(), bytes.size(), stream_), "copying to the device");
}

Expected<std::vector<uint8_t>> DeviceWork::read(cuda::Address data, uint64_t bytes) {
  WHET_OK(code_->make_current());
  std::vector<uint8_t> host(bytes);
  if (bytes > 0) WHET_OK(driver_->check(driver_->copy_to_host(host.data(), data, bytes, stream_), "copying from the device"));
  WHET_OK(synchronize());
  return host;
}

Status DeviceWork::copy(cuda::Address to, cuda::Address from, uint64_t bytes) {
  WHET_OK(code_->make_current());
  return bytes == 0 ? Status{} : driver_->check(driver_->copy_on_device(to, from, bytes, stream_), "copying on the device");
}

Status DeviceWork::zero(cuda::Address data, uint64_t bytes) {
  WHET_OK(code_->make_current());
  return bytes == 0 ? Status{} : driver_->check(driver_->set_bytes(data, 0, bytes, stream_), "zeroing device memory");
}

// The sum over the blocks' parts.
Expected<uint64_t> DeviceWork::sum_of_parts(unsigned blocks) {
  const gpu::ReduceSumArguments arguments{parts_, result_.address(), blocks};
  WHET_OK(code_->launch(Kernel::sum, 1, 1, kThreads, &arguments, stream_));
  WHET_OK(synchronize());
  uint64_t bits;
  std::memcpy(&bits, result_.data(), sizeof bits);
  return bits;
}

Expected<Magnitude> DeviceWork::magnitude_of(Dtype dtype, cuda::Address want, int64_t count) {
  if (!is_float(dtype) || count == 0) return Magnitude{};
  WHET_OK(code_->make_current());
  const unsigned blocks = code_->blocks_for(count);
  const gpu::SumArguments arguments{want, parts_, 0, count, format_of(reference_dtype(dtype)), 0};
  WHET_OK(code_->launch(Kernel::magnitude, blocks, 1, kThreads, &arguments, stream_));
  const gpu::ReduceSumArguments reduce{parts_, result_.address(), blocks};
  WHET_OK(code_->launch(Kernel::magnitude_reduce, 1, 1, kThreads, &reduce, stream_));
  WHET_OK(synchronize());
  gpu::Magnitude all;
  std::memcpy(&all, result_.data(), sizeof all);
  return Magnitude{all.squares, all.elements};
}

Expected<Comparison> DeviceWork::compare(Dtype dtype, cuda::Address got, cuda::Address want, const Magnitude& magnitude, int64_t count, const Tolerance& tolerance,
                                         NanPolicy policy) {
  Comparison comparison;
  if (count == 0) return comparison;
  WHET_OK(code_->make_current());
  const unsigned blocks = code_->blocks_for(count);
  gpu::CompareArguments arguments{got, want, parts_, count, tolerance.rtol, tolerance.atol * magnitude.rms(), format_of(dtype),
                                  format_of(reference_dtype(dtype)), policy == NanPolicy::match, 0};
  WHET_OK(code_->launch(is_float(dtype) ? Kernel::compare : Kernel::compare_exact, blocks, 1, kThreads, &arguments, stream_));
  const gpu::ReduceArguments reduce{arguments, result_.address(), blocks};
  WHET_OK(code_->launch(Kernel::compare_reduce, 1, 1, kThreads, &reduce, stream_));
  WHET_OK(synchronize());
  gpu::Part all;
  std::memcpy(&all, result_.data(), sizeof all);
  comparison.failing = all.failing;
  comparison.not_finite = all.not_finite > 0;
  comparison.worst_bound = all.worst_bound;
  comparison.worst_absolute = all.worst_absolute;
  comparison.worst_relative = all.worst_relative;
  if (all.failing > 0) comparison.worst_index = all.worst_index, comparison.got = all.got, comparison.want = all.want;
  if (is_float(dtype)) comparison.norm = magnitude.squares > 0 ? std::sqrt(all.error_squares / magnitude.squares) : (all.error_squares > 0 ? INFINITY : 0);
  comparison.passes = all.failing == 0 && (!is_float(dtype) || tolerance.norm < 0 || comparison.norm <= tolerance.norm);
  return comparison;
}

Expected<int64_t> DeviceWork::equal_elements(Dtype dtype, cuda::Address got, cuda::Address other, int64_t count) {
  if (count == 0) return int64_t{0};
  WHET_OK(code_->make_current());
  const unsigned blocks = code_->blocks_for(count);
  const gpu::SumArguments arguments{got, parts_, other, count, format_of(dtype), static_cast<int32_t>(size_of(dtype))};
  WHET_OK(code_->launch(Kernel::equal, blocks, 1, kThreads, &arguments, stream_));
  WHET_TRY(const uint64_t equal, sum_of_parts(blocks));
  return static_cast<int64_t>(equal);
}

Status DeviceWork::convert_expected(Dtype dtype, cuda::Address want, int64_t count, cuda::Address out) {
  const Dtype from = reference_dtype(dtype);
  if (from == dtype) return copy(out, want, static_cast<uint64_t>(count * size_of(dtype)));
  if (count == 0) return {};
  WHET_OK(code_->make_current());
  const gpu::ConvertArguments arguments{want, out, count, format_of(dtype), 0};
  return code_->launch(Kernel::convert, code_->blocks_for(count), 1, kThreads, &arguments, stream_);
}

Status DeviceWork::zero_tail(Dtype dtype, cuda::Address data, const std::vector<int64_t>& shape, size_t axis) {
  const Tail tail = tail_along(dtype, shape, axis);
  if (tail.runs == 0 || tail.bytes == 0) return {};
  WHET_OK(code_->make_current());
  const int32_t width = common_width(data, tail.first, tail.stride, tail.bytes);
  const gpu::TailArguments arguments{data, tail.runs, tail.first / width, tail.stride / width, tail.bytes / width, width, 0};
  return code_->launch(Kernel::zero_tail, code_->blocks_for(tail.runs * arguments.words), 1, kThreads, &arguments, stream_);
}

Status DeviceWork::round_down(Dtype dtype, cuda::Address data, int64_t count) {
  const int kept = kept_mantissa(dtype);
  if (kept == 0 || count == 0) return {};
  WHET_OK(code_->make_current());
  const gpu::RoundArguments arguments{data, count, format_of(dtype), kept};
  return code_->launch(Kernel::round_down, code_->blocks_for(count), 1, kThreads, &arguments, stream_);
}

Status DeviceWork::fill_with_mean(Dtype dtype, cuda::Address from, int64_t count, cuda::Address to) {
  if (count == 0) return {};
  WHET_OK(code_->make_current());
  const gpu::SumArguments arguments{from, parts_, 0, count, format_of(dtype), 0};
  static_assert(kMeanLanes % kThreads == 0);
  WHET_OK(code_->launch(Kernel::lane_sums, kMeanLanes / kThreads, 1, kThreads, &arguments, stream_));
  const gpu::ReduceSumArguments reduce{parts_, result_.address(), 0};
  WHET_OK(code_->launch(Kernel::lanes_reduce, 1, 1, kThreads, &reduce, stream_));
  WHET_OK(synchronize());
  double sum;
  std::memcpy(&sum, result_.data(), sizeof sum);
  const gpu::FillArguments fill{to, 0, count, element_bits(dtype, sum / static_cast<double>(count)), static_cast<int32_t>(size_of(dtype)), 0};
  return code_->launch(Kernel::fill, code_->blocks_for(count), 1, kThreads, &fill, stream_);
}

Status DeviceWork::repeat(cuda::Address to, uint64_t bytes, cuda::Address from, uint64_t period) {
  if (bytes == 0) return {};
  WHET_OK(code_->make_current());
  const int32_t width = common_width(to, bytes, from, period);
  const auto words = static_cast<int64_t>(bytes) / width;
  const gpu::RepeatArguments arguments{to, from, words, static_cast<int64_t>(period) / width, width, 0};
  return code_->launch(Kernel::repeat, code_->blocks_for(words), 1, kThreads, &arguments, stream_);
}

Expected<uint64_t> DeviceWork::digest(cuda::Address data, uint64_t bytes) {
  WHET_OK(code_->make_current());
  const unsigned blocks = code_->blocks_for(static_cast<int64_t>(bytes / 8) + 1);
  const gpu::SumArguments arguments{data, parts_, 0, static_cast<int64_t>(bytes), 0, 0};
  WHET_OK(code_->launch(Kernel::digest, blocks, 1, kThreads, &arguments, stream_));
  WHET_TRY(const uint64_t sum, sum_of_parts(blocks));
  return gpu::finished_digest(sum, bytes);
}

Expected<uint64_t> DeviceWork::sample(std::span<const gpu::Range> tensors, uint64_t salt) {
  WHET_OK(code_->make_current());
  if (tensors.size() > gpu::kMostRanges) return machine_failed("{} tensors are too many for a sample: at most {}", tensors.size(), gpu::kMostRanges);
  gpu::SampleArguments arguments = {};
  std::copy(tensors.begin(), tensors.end(), arguments.ranges);
  arguments.result = result_.address(), arguments.salt = salt, arguments.count = static_cast<int32_t>(tensors.size());
  WHET_OK(code_->launch(Kernel::sample, 1, 1, 32, &arguments, stream_));
  WHET_OK(synchronize());
  uint64_t state;
  std::memcpy(&state, result_.data(), sizeof state);
  return state;
}

Status DeviceWork::paint_red_zones(const DeviceBuffer& buffer) {
  WHET_OK(code_->make_current());
  const DevicePlacement& place = buffer.placement();
  const uint64_t end = place.offset + place.bytes;
  const auto paint = [&](uint64_t from, uint64_t to) {
    return from == to ? Status{} : driver_->check(driver_->set_bytes(buffer.base() + from, 0xff, to - from, stream_), "painting a red zone");
  };
  WHET_OK(paint(0, place.offset));
  return paint(end, place.object_bytes);
}

Expected<std::vector<int64_t>> DeviceWork::damage(std::span<const DeviceBuffer* const> buffers) {
  WHET_OK(code_->make_current());
  std::vector<int64_t> distances;
  constexpr size_t kBatch = gpu::kMostRanges / 2;
  for (size_t first = 0; first < buffers.size(); first += kBatch)
    WHET_OK(damage_of(buffers.subspan(first, std::min(kBatch, buffers.size() - first)), distances));
  return distances;
}

Status DeviceWork::damage_of(std::span<const DeviceBuffer* const> buffers, std::vector<int64_t>& distances) {
  gpu::RangesArguments arguments = {};
  const size_t count = buffers.size();
  for (size_t i = 0; i < count; ++i) {
    const DevicePlacement& place = buffers[i]->placement();
    const uint64_t end = place.offset + place.bytes;
    arguments.ranges[i] = {buffers[i]->base(), place.offset};
    arguments.ranges[count + i] = {buffers[i]->base() + end, place.object_bytes - end};
  }
  arguments.count = static_cast<int32_t>(2 * count);
  // On the device, where the atomic minimum is; then to the host.
  arguments.result = parts_;
  WHET_OK(driver_->check(driver_->set_bytes(parts_, 0xff, 2 * count * sizeof(uint64_t), stream_), "checking red zones"));
  WHET_OK(code_->launch(Kernel::red_zones, 32, static_cast<unsigned>(2 * count), kThreads, &arguments, stream_));
  WHET_OK(driver_->check(driver_->copy_to_host(result_.data(), parts_, 2 * count * sizeof(uint64_t), stream_), "checking red zones"));
  WHET_OK(synchronize());
  const auto* least = static_cast<const uint64_t*>(result_.data());
  for (size_t i = 0; i < count; ++i) {
    const uint64_t nearest = least[i] != ~uint64_t{0} ? least[i] : least[count + i];
    distances.push_back(nearest == ~uint64_t{0} ? -1 : static_cast<int64_t>(nearest));
  }
  return {};
}

Status DeviceWork::synchronize() {
  WHET_OK(code_->make_current());
  return driver_->check(driver_->stream_synchronize(stream_), "the judge's own work on the device");
}

uint64_t device_digest(const void* data, uint64_t bytes) {
  const auto* p = static_cast<const uint8_t*>(data);
  uint64_t sum = 0;
  for (uint64_t at = 0; at < bytes; at += 8) {
    uint64_t word = 0;
    std::memcpy(&word, p + at, std::min<uint64_t>(8, bytes - at));
    sum += gpu::mixed(word, at / 8);
  }
  return gpu::finished_digest(sum, bytes);
}

}  // namespace whet
