// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/error.h"

namespace whet {

// When kernels ran, by CUPTI (libcupti, looked for where a toolkit keeps it): a clock that is neither ours nor that of events. Its C API is declared here by
// ourselves; one per process.
class CuptiTracer {
 public:
  struct Span {
    std::string name;
    uint64_t begin_ns, end_ns;
  };

  static Expected<CuptiTracer> open();

  Status start();                      // kernels from now on are recorded
  Expected<std::vector<Span>> stop();  // those that have ended; the caller has waited for them

 private:
  struct Library;
  const Library* library_ = nullptr;
};

}  // namespace whet
