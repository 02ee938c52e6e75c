// SPDX-License-Identifier: Apache-2.0
#include "truth/profile/sanitizer.h"

#include "base/json_impl.h"
#include "fuzzed.h"

using namespace whet;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const int exit_codes[] = {0, kSanitizerFound, 1, 255, -1};
  const int exit_code = exit_codes[data[0] % 5];
  const SanitizerReport report = parse_sanitizer("memcheck", text_of(data + 1, size - 1), exit_code);
  if (exit_code == kSanitizerFound) must(report.outcome == SanitizerReport::Outcome::found, "what the tool found stays found, whatever it printed");
  if (report.outcome == SanitizerReport::Outcome::clean) must(report.findings.empty() && report.errors == 0 && exit_code == 0, "clean means that nothing was found");
  must(report.findings.size() <= 50, "findings are bounded");
  must(!report.sentence.empty(), "there is always a sentence");
  return 0;
}
