// SPDX-License-Identifier: Apache-2.0
// Keeps a ticket and the rows before projection in the workspace. The ticket must be zero when a run begins: the run before set it back.
#include <cstring>

#include "operator.h"

struct Header {
  int64_t ticket, runs;
};

static whet_int32 workspace_bytes(const WhetCall* call, whet_uint64* bytes) {
  *bytes = sizeof(Header) + 4u * static_cast<whet_uint64>(call->axes[0] * call->axes[2] + call->axes[1]);
  return 0;
}

static whet_int32 run(const WhetCall* call, void*) {
  const Args a = read_args(call);
  auto* header = static_cast<Header*>(call->workspace);
  auto* averages = reinterpret_cast<float*>(header + 1);
  float* scores = averages + a.rows * a.dim;
  if (header->ticket != 0) {
    std::strncpy(call->message, "the ticket was not zero", call->message_bytes);
    return 7;
  }
  for (int64_t row = 0; row < a.rows; ++row, ++header->ticket) average_row(a, row, scores, averages + row * a.dim);
  for (int64_t row = 0; row < a.rows; ++row, --header->ticket) project(averages + row * a.dim, a.w, a.dim, a.o + row * a.dim);
  ++header->runs;
  return 0;
}

WHET_TEST_TABLE(workspace_bytes, nullptr, run, nullptr)
