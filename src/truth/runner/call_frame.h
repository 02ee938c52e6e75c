// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <vector>

#include "truth/runner/protocol.h"
#include "whet/candidate.h"

namespace whet::runner {

// The WhetCall of a layout, and all that it points to. A call is valid until the next one is made.
class CallFrame {
 public:
  // In which of a Solution's functions the call is used: it decides which tensors have data.
  enum class Use { workspace_bytes, prepare, run };

  void lay_out(const Layout& layout);
  const Layout& layout() const { return layout_; }
  // `data` has one pointer per tensor, in Definition order.
  WhetCall call(Use use, std::span<void* const> data, void* workspace, uint64_t workspace_bytes, void* stream);
  const char* message();  // what the Solution wrote in it

 private:
  Layout layout_;
  std::vector<WhetTensor> tensors_;
  std::vector<WhetScalar> scalars_;
  char message_[kMaxMessage] = {};
};

}  // namespace whet::runner
