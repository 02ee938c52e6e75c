// SPDX-License-Identifier: Apache-2.0
#include "face/cli/live.h"

#include <fmt/format.h>

#include <cmath>
#include <cstdio>

#include "base/json_impl.h"

namespace whet {

StatusLine::Look look_of(const Context& context) {
  return {context.err_is_terminal, context.columns, [](const std::string& text) {
            std::fwrite(text.data(), 1, text.size(), stderr);
            std::fflush(stderr);
          }};
}

namespace {

// "geomean 1.42x, worst decode-4096 0.91x"; "" when nothing is known.
std::string so_far(const std::map<std::string, double>& ratios) {
  if (ratios.empty()) return "";
  double sum = 0;
  const std::pair<const std::string, double>* worst = &*ratios.begin();
  for (const auto& ratio : ratios) {
    sum += std::log(ratio.second);
    if (ratio.second < worst->second) worst = &ratio;
  }
  return fmt::format(", geomean {:.2f}x, worst {} {:.2f}x", std::exp(sum / static_cast<double>(ratios.size())), worst->first, worst->second);
}

}  // namespace

void Live::operator()(const Json& notification) {
  if (!notification.is_object()) return;
  const auto text_of = [&](const char* key) {
    const auto it = notification.find(key);
    return it != notification.end() && it->is_string() ? it->get<std::string>() : std::string();
  };
  const auto number_of = [&](const char* key) {
    const auto it = notification.find(key);
    return it != notification.end() && it->is_number() ? it->get<double>() : -1.0;
  };
  const std::string phase = text_of("phase"), workload = text_of("workload"), solution = text_of("solution");
  const double index = number_of("index"), total = number_of("total"), ratio = number_of("ratio");
  if (!workload.empty() && ratio > 0) ratios_[workload] = ratio;
  const auto now = StatusLine::Clock::now();
  // Measured: the notification comes when the workload is done, with its Verdict.
  const double verdict = number_of("verdict");
  if (verdict > 0) ++not_correct_;
  const double done = total > 0 && index >= 0 ? (index + (verdict >= 0 ? 1 : 0)) / total : -1;
  std::string left;
  if (phase == "measure") {
    if (measuring_since_ == StatusLine::Clock::time_point{}) measuring_since_ = now;
    const double spent = std::chrono::duration<double>(now - measuring_since_).count();
    if (done > 0.05) left = fmt::format(", {} left", clock_text(spent * (1 - done) / done));
  }
  std::string text = prefix_ + phase;
  if (total > 0) text += fmt::format(" {:.0f}/{:.0f}", index + 1, total);
  for (const std::string& name : {workload, solution})
    if (!name.empty()) text += " " + name;
  if (phase == "measure") text += so_far(ratios_);
  if (not_correct_ > 0) text += fmt::format(", {} not correct", not_correct_);
  line_.show(done, text + left);
}

}  // namespace whet
