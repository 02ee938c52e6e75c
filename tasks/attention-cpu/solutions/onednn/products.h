// SPDX-License-Identifier: Apache-2.0
//
// Matrix products of oneDNN 2 and 3 on one thread, without allocation when they run.
#pragma once

#include <oneapi/dnnl/dnnl.hpp>

#include <map>
#include <memory>
#include <tuple>
#include <vector>

namespace composed {

/// A matrix product c[rows][cols] (+)= a[rows][depth] . b[depth][cols], bfloat16 to float.
struct ProductKey {
  long rows, cols, depth;
  long a_stride, c_stride;
  long b_row_stride, b_col_stride;  // one of them is 1
  bool accumulate;

  auto tied() const { return std::tie(rows, cols, depth, a_stride, c_stride, b_row_stride, b_col_stride, accumulate); }
  bool operator<(const ProductKey& other) const { return tied() < other.tied(); }
};

/// A primitive with memory objects of one thread, to which each call lends its pointers.
class Product {
 public:
  Product(const dnnl::engine& engine, const ProductKey& key);
  void run(const dnnl::stream& stream, const void* a, const void* b, float* c);
  const char* kernel() const { return kernel_.c_str(); }

 private:
  dnnl::matmul primitive_;
  dnnl::memory a_, b_, c_, scratch_;
  std::string kernel_;
};

/// Copies a matrix [rows][cols] to [cols][rows].
class Transpose {
 public:
  Transpose(const dnnl::engine& engine, bool is_bf16, long rows, long cols, long from_stride, long to_stride);
  void run(const dnnl::stream& stream, const void* from, void* to);

 private:
  dnnl::reorder primitive_;
  dnnl::memory from_, to_;
};

/// What one thread owns.
struct Library {
  dnnl::engine engine{dnnl::engine::kind::cpu, 0};
  dnnl::stream stream{engine};
  std::map<ProductKey, std::unique_ptr<Product>> products;
  std::map<long, std::unique_ptr<Transpose>> transposes;  // by number of keys
};

/// c = a . b or a . b^T in float; no primitive needed.
void multiply(bool b_transposed, long rows, long cols, long depth, const float* a, long a_stride, const float* b,
              long b_stride, bool accumulate, float* c, long c_stride);

}  // namespace composed
