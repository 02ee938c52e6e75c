// SPDX-License-Identifier: Apache-2.0
#include "truth/profile/ncu.h"

#include <cmath>

#include "base/json_impl.h"
#include "fuzzed.h"
#include "truth/profile/derived.h"
#include "truth/profile/label.h"
#include "truth/profile/roofline.h"

using namespace whet;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, std::size_t size) {
  const std::string_view text = text_of(data, size);
  const NcuLog log = parse_ncu_log(text);
  (void)check_ncu_run(log, 0, text);
  (void)ncu_version(text);
  auto launches = parse_ncu_raw(text);
  if (!launches) return 0;
  must(!launches->empty(), "a table that is accepted has a launch");
  Profile profile;
  for (LaunchProfile& launch : *launches) {
    for (const auto& [name, counter] : launch.counters) must(std::isfinite(counter.value), "a counter is a finite number");
    keep_counters(launch, counters_of_interest());
    must(launch.missing.size() + launch.counters.size() == counters_of_interest().size(), "a counter is kept or missing");
    add_derived(launch);
    launch.roofline = roofline_of(launch, {});
    label_launch(launch, {});
    profile.launches.push_back(launch);
  }
  label_call(profile, {});
  must(profile.label.id == "unknown", "without rules every label is unknown");
  return 0;
}
