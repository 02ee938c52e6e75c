// SPDX-License-Identifier: Apache-2.0
#include "truth/guard/mutant.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

#include "truth/measure/number_format.h"

namespace whet {
namespace {

int64_t tail_of(int64_t size) { return std::max<int64_t>(1, size / 16); }

}  // namespace

std::vector<AlteredInput> altered_inputs(const Definition& definition, const Workload& workload) {
  std::vector<AlteredInput> altered;
  std::vector<size_t> floats;
  size_t index = 0;
  for (const TensorSpec& input : definition.inputs) {
    if (input.is_scalar()) {
      altered.push_back({"ignores " + input.name, {}, AlteredInput::How::change_scalar, 0, input.name, "ignores " + input.name});
      continue;
    }
    const size_t tensor = index++;
    if (is_float(input.dtype)) floats.push_back(tensor);
    const auto source = workload.inputs.find(input.name);
    const Recipe::Kind kind = source == workload.inputs.end() ? Recipe::Kind::normal : source->second.recipe.kind;
    const bool drawn = kind == Recipe::Kind::normal || kind == Recipe::Kind::uniform || kind == Recipe::Kind::planted;
    if (!drawn) continue;  // lengths, page tables: another draw of them is the same or another problem
    altered.push_back({"ignores " + input.name, {tensor}, AlteredInput::How::redraw, 0, "", "ignores " + input.name});
    const auto shape = shape_of(definition, input, workload.axes);
    for (size_t axis = 0; axis < shape.size(); ++axis)
      if (shape[axis] > 1)
        altered.push_back({"ignores the tail of " + input.name + " along " + (*input.shape)[axis], {tensor}, AlteredInput::How::zero_tail, axis, "", ""});
  }
  if (!floats.empty()) altered.push_back({"lower precision", floats, AlteredInput::How::round, 0, "", ""});
  return altered;
}

void zero_tail(Dtype dtype, void* data, const std::vector<int64_t>& shape, size_t axis) {
  int64_t outer = 1, inner = size_of(dtype);
  for (size_t i = 0; i < axis; ++i) outer *= shape[i];
  for (size_t i = axis + 1; i < shape.size(); ++i) inner *= shape[i];
  const int64_t tail = tail_of(shape[axis]);
  auto* bytes = static_cast<uint8_t*>(data);
  for (int64_t i = 0; i < outer; ++i) std::memset(bytes + ((i + 1) * shape[axis] - tail) * inner, 0, static_cast<size_t>(tail * inner));
}

void round_down(Dtype dtype, void* data, int64_t count) {
  const auto rounded = [](float value, int keep) {
    const int drop = 23 - keep;
    uint32_t bits = std::bit_cast<uint32_t>(value);
    bits += (1u << (drop - 1)) - 1u + ((bits >> drop) & 1u);
    return std::bit_cast<float>(bits & ~((1u << drop) - 1u));
  };
  int keep = 0;
  switch (dtype) {
    case Dtype::float64: keep = 23; break;
    case Dtype::float32: keep = 10; break;
    case Dtype::float16:
    case Dtype::bfloat16: keep = 4; break;
    case Dtype::float8_e4m3fn: keep = 2; break;
    case Dtype::float8_e5m2: keep = 1; break;
    default: return;
  }
  for (int64_t i = 0; i < count; ++i) {
    const auto value = static_cast<float>(load_element(dtype, data, i));
    store_element(dtype, data, i, keep == 23 ? value : rounded(value, keep));
  }
}

InputSource changed_scalar(const InputSource& source) {
  InputSource changed = source;
  if (const bool* flag = std::get_if<bool>(&source.scalar)) changed.scalar = !*flag;
  if (const double* number = std::get_if<double>(&source.scalar)) changed.scalar = *number == 0 ? 1.0 : *number * 1.25;
  if (const int64_t* integer = std::get_if<int64_t>(&source.scalar)) changed.scalar = *integer == 0 ? int64_t{1} : *integer / 2;
  return changed;
}

std::vector<WrongOutput> wrong_outputs(Dtype dtype, const std::vector<uint8_t>& right, const std::vector<uint8_t>& unrelated, int64_t count) {
  std::vector<WrongOutput> wrong;
  wrong.push_back({"zeros", std::vector<uint8_t>(right.size(), 0)});
  std::vector<uint8_t> mean(right.size());
  double sum = 0;
  for (int64_t i = 0; i < count; ++i) sum += load_element(dtype, right.data(), i);
  for (int64_t i = 0; i < count; ++i) store_element(dtype, mean.data(), i, count ? sum / static_cast<double>(count) : 0);
  wrong.push_back({"mean", std::move(mean)});
  wrong.push_back({"stale", unrelated});  // also what a no-op leaves behind
  std::vector<uint8_t> tail = right;
  const auto from = static_cast<size_t>((count - tail_of(count)) * size_of(dtype));
  std::copy(unrelated.begin() + static_cast<std::ptrdiff_t>(from), unrelated.end(), tail.begin() + static_cast<std::ptrdiff_t>(from));
  wrong.push_back({"skips the tail", std::move(tail)});
  return wrong;
}

std::vector<uint8_t> passed_through(Dtype input_dtype, const void* input, int64_t input_count, Dtype output_dtype, int64_t output_count) {
  if (input_dtype != output_dtype || input_count == 0) return {};
  std::vector<uint8_t> bytes(static_cast<size_t>(output_count * size_of(output_dtype)));
  const auto period = static_cast<size_t>(input_count * size_of(input_dtype));
  for (size_t i = 0; i < bytes.size(); i += period) std::memcpy(bytes.data() + i, input, std::min(period, bytes.size() - i));
  return bytes;
}

}  // namespace whet
