// SPDX-License-Identifier: Apache-2.0
#include "products.h"

#include <oneapi/dnnl/dnnl.h>

namespace composed {
namespace {

using dnnl::memory;

memory::desc matrix(long rows, long cols, memory::data_type type, long row_stride, long col_stride) {
  return memory::desc(memory::dims{rows, cols}, type, memory::dims{row_stride, col_stride});
}

dnnl::matmul::primitive_desc describe(const dnnl::engine& engine, const ProductKey& key) {
  const auto a = matrix(key.rows, key.depth, memory::data_type::bf16, key.a_stride, 1);
  const auto b = matrix(key.depth, key.cols, memory::data_type::bf16, key.b_row_stride, key.b_col_stride);
  const auto c = matrix(key.rows, key.cols, memory::data_type::f32, key.c_stride, 1);
  dnnl::primitive_attr attributes;
  attributes.set_scratchpad_mode(dnnl::scratchpad_mode::user);
  if (key.accumulate) {
    dnnl::post_ops sum;
    sum.append_sum(1.0f);
    attributes.set_post_ops(sum);
  }
#if DNNL_VERSION_MAJOR >= 3
  return dnnl::matmul::primitive_desc(engine, a, b, c, attributes);
#else
  return dnnl::matmul::primitive_desc(dnnl::matmul::desc(a, b, c), attributes, engine);
#endif
}

}  // namespace

Product::Product(const dnnl::engine& engine, const ProductKey& key) {
  const auto description = describe(engine, key);
  primitive_ = dnnl::matmul(description);
  a_ = memory(description.src_desc(), engine, nullptr);
  b_ = memory(description.weights_desc(), engine, nullptr);
  c_ = memory(description.dst_desc(), engine, nullptr);
  scratch_ = memory(description.scratchpad_desc(), engine);
  kernel_ = description.impl_info_str();
}

// The C call takes the arguments as an array; the C++ one builds two maps for each.
void Product::run(const dnnl::stream& stream, const void* a, const void* b, float* c) {
  a_.set_data_handle(const_cast<void*>(a));
  b_.set_data_handle(const_cast<void*>(b));
  c_.set_data_handle(c);
  const dnnl_exec_arg_t arguments[] = {{DNNL_ARG_SRC, a_.get()},
                                       {DNNL_ARG_WEIGHTS, b_.get()},
                                       {DNNL_ARG_DST, c_.get()},
                                       {DNNL_ARG_SCRATCHPAD, scratch_.get()}};
  dnnl_primitive_execute(primitive_.get(), stream.get(), 4, arguments);
}

Transpose::Transpose(const dnnl::engine& engine, bool is_bf16, long rows, long cols, long from_stride, long to_stride) {
  const auto type = is_bf16 ? memory::data_type::bf16 : memory::data_type::f32;
  const auto from = matrix(rows, cols, type, from_stride, 1);
  const auto to = matrix(rows, cols, type, 1, to_stride);
  primitive_ = dnnl::reorder(dnnl::reorder::primitive_desc(engine, from, engine, to));
  from_ = memory(from, engine, nullptr);
  to_ = memory(to, engine, nullptr);
}

void Transpose::run(const dnnl::stream& stream, const void* from, void* to) {
  from_.set_data_handle(const_cast<void*>(from));
  to_.set_data_handle(to);
  const dnnl_exec_arg_t arguments[] = {{DNNL_ARG_FROM, from_.get()}, {DNNL_ARG_TO, to_.get()}};
  dnnl_primitive_execute(primitive_.get(), stream.get(), 2, arguments);
}

void multiply(bool b_transposed, long rows, long cols, long depth, const float* a, long a_stride, const float* b,
              long b_stride, bool accumulate, float* c, long c_stride) {
  dnnl_sgemm('N', b_transposed ? 'T' : 'N', rows, cols, depth, 1.0f, a, a_stride, b, b_stride, accumulate ? 1.0f : 0.0f, c,
             c_stride);
}

}  // namespace composed
