// SPDX-License-Identifier: Apache-2.0
#include "cpu_attention.h"

#include <cmath>
#include <cstdint>
#include <cstring>

#include "device.h"

namespace hopper {
namespace {

// A float with these many exponent and mantissa bits; `infinities`: whether the greatest exponent is reserved.
double decode(unsigned bits, int exponent_bits, int mantissa_bits, bool infinities) {
  const unsigned top = (1u << exponent_bits) - 1;
  const unsigned exponent = (bits >> mantissa_bits) & top, mantissa = bits & ((1u << mantissa_bits) - 1);
  const int bias = (1 << (exponent_bits - 1)) - 1;
  double value = exponent == 0 ? std::ldexp(mantissa, 1 - bias - mantissa_bits) : std::ldexp(mantissa + (1u << mantissa_bits), static_cast<int>(exponent) - bias - mantissa_bits);
  if (infinities && exponent == top) value = mantissa ? NAN : INFINITY;
  return (bits >> (exponent_bits + mantissa_bits)) & 1 ? -value : value;
}

std::vector<double> host_copy(const Tensor* tensor) {
  if (!tensor) return {};
  std::vector<unsigned char> raw(static_cast<std::size_t>(tensor->bytes()));
  must(cudaMemcpy(raw.data(), tensor->data, raw.size(), cudaMemcpyDeviceToHost), "copying to the host");
  std::vector<double> values(static_cast<std::size_t>(tensor->count));
  for (std::size_t i = 0; i < values.size(); ++i) {
    std::uint16_t half;
    std::int32_t word;
    float real;
    switch (tensor->type) {
      case Type::bf16: std::memcpy(&half, &raw[2 * i], 2), values[i] = decode(half, 8, 7, true); break;
      case Type::fp16: std::memcpy(&half, &raw[2 * i], 2), values[i] = decode(half, 5, 10, true); break;
      case Type::e4m3: values[i] = decode(raw[i], 4, 3, false); break;
      case Type::i32: std::memcpy(&word, &raw[4 * i], 4), values[i] = word; break;
      case Type::f32: std::memcpy(&real, &raw[4 * i], 4), values[i] = real; break;
    }
  }
  return values;
}

}  // namespace

std::vector<float> attention_on_cpu(const Scenario& s) {
  const auto host = [&](const char* name) { return host_copy(s.tensor(name)); };
  const bool latent = s.tensor("kv") != nullptr;
  const auto q = host("q"), k = host(latent ? "kv" : "k"), v = latent ? k : host("v"), sink = host("sink"), leftpad = host("leftpad");
  const auto cu_q = host("cu_seqlens_q"), cu_k = host("cu_seqlens_k"), used = host("seqused_k"), table = host("page_table");
  const auto q_descale = host("q_descale"), k_descale = host("k_descale"), v_descale = host("v_descale");
  const long long batch = s.axis("batch"), heads = s.axis("q_heads"), kv_heads = s.axis("kv_heads"), d = s.axis("head_dim"), dv = s.axis("v_dim");
  const long long v_stride = latent ? d : dv;
  // The Definition says float32: that is the number a Solution gets.
  const double scale = static_cast<float>(s.scalar("scale").f), softcap = static_cast<float>(s.scalar("softcap").f);
  const bool causal = s.scalar("causal").i != 0;
  const long long left = s.scalar("window_left").i, right = s.scalar("window_right").i;
  std::vector<float> out(static_cast<std::size_t>(s.tensors.back().count));

  for (long long b = 0; b < batch; ++b) {
    const long long q_begin = cu_q.empty() ? b * s.axis("q_len") : static_cast<long long>(cu_q[b]);
    const long long rows = cu_q.empty() ? s.axis("q_len") : static_cast<long long>(cu_q[b + 1]) - q_begin;
    const long long keys = !used.empty() ? static_cast<long long>(used[b]) : !cu_k.empty() ? static_cast<long long>(cu_k[b + 1] - cu_k[b]) : s.axis("kv_len");
    const auto place = [&](long long j) -> long long {
      if (!table.empty()) {
        const long long page_size = s.axis("page_size");
        return static_cast<long long>(table[b * s.axis("pages_per_seq") + j / page_size]) * page_size + j % page_size;
      }
      return (cu_k.empty() ? b * s.axis("kv_len") : static_cast<long long>(cu_k[b])) + j;
    };
    for (long long i = 0; i < rows; ++i)
      for (long long h = 0; h < heads; ++h) {
        const long long g = h / (heads / kv_heads), position = i + keys - rows;
        double factor = scale;
        if (!q_descale.empty()) factor *= q_descale[b * kv_heads + g];
        if (!k_descale.empty()) factor *= k_descale[b * kv_heads + g];
        std::vector<double> logits(static_cast<std::size_t>(keys), -INFINITY);
        double top = -INFINITY;
        for (long long j = 0; j < keys; ++j) {
          if (!leftpad.empty() && j < leftpad[b]) continue;
          if (causal && j > position) continue;
          if (left >= 0 && j < position - left) continue;
          if (right >= 0 && j > position + right) continue;
          double x = 0;
          for (long long c = 0; c < d; ++c) x += q[((q_begin + i) * heads + h) * d + c] * k[(place(j) * kv_heads + g) * d + c];
          x *= factor;
          if (softcap > 0) x = softcap * std::tanh(x / softcap);
          logits[j] = x;
          top = std::fmax(top, x);
        }
        if (top == -INFINITY) continue;  // zeros
        double sum = sink.empty() ? 0 : std::exp(sink[h] - top);
        for (double x : logits) sum += std::exp(x - top);
        for (long long c = 0; c < dv; ++c) {
          double value = 0;
          for (long long j = 0; j < keys; ++j)
            if (logits[j] > -INFINITY) value += std::exp(logits[j] - top) * v[(place(j) * kv_heads + g) * v_stride + c];
          value /= sum;
          if (!v_descale.empty()) value *= v_descale[b * kv_heads + g];
          out[((q_begin + i) * heads + h) * dv + c] = static_cast<float>(value);
        }
      }
  }
  return out;
}

}  // namespace hopper
