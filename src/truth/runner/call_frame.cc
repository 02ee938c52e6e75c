// SPDX-License-Identifier: Apache-2.0
#include "truth/runner/call_frame.h"

namespace whet::runner {

void CallFrame::lay_out(const Layout& layout) {
  layout_ = layout;
  tensors_.resize(static_cast<size_t>(layout.num_inputs + layout.num_outputs));
  scalars_.resize(static_cast<size_t>(layout.num_scalars));
}

WhetCall CallFrame::call(Use use, std::span<void* const> data, void* workspace, uint64_t workspace_bytes, void* stream) {
  for (size_t i = 0; i < tensors_.size(); ++i) {
    WireTensor& wire = layout_.tensors[i];
    WhetTensor& tensor = tensors_[i];
    const bool is_input = static_cast<int>(i) < layout_.num_inputs;
    const bool has_data = use == Use::run || (use == Use::prepare && is_input && wire.prepared);
    tensor = {};
    tensor.data = has_data ? data[i] : nullptr;
    tensor.device.type = layout_.device;
    tensor.ndim = wire.ndim;
    tensor.dtype = {wire.dtype_code, wire.dtype_bits, 1};
    tensor.shape = wire.shape;
  }
  for (size_t i = 0; i < scalars_.size(); ++i) scalars_[i] = {layout_.scalars[i].kind, 0, layout_.scalars[i].i, layout_.scalars[i].f};
  WhetCall call = {};
  call.struct_bytes = sizeof call;
  call.num_tensors = layout_.num_inputs + layout_.num_outputs;
  call.num_inputs = layout_.num_inputs;
  call.num_axes = layout_.num_axes;
  call.num_scalars = layout_.num_scalars;
  call.num_threads = layout_.num_threads;
  call.tensors = tensors_.data();
  call.axes = reinterpret_cast<const whet_int64*>(layout_.axes);
  call.scalars = scalars_.data();
  call.stream = stream;
  call.workspace = workspace;
  call.workspace_bytes = workspace_bytes;
  message_[0] = 0;
  call.message = message_;
  call.message_bytes = sizeof message_;
  return call;
}

const char* CallFrame::message() {
  message_[sizeof message_ - 1] = 0;
  return message_;
}

}  // namespace whet::runner
