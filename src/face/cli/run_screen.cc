// SPDX-License-Identifier: Apache-2.0
#include "face/cli/run_screen.h"

#include <cmath>

#include "base/json_impl.h"
#include "face/cli/live.h"
#include "face/cli/outcome.h"
#include "face/cli/result_json.h"
#include "report/numbers.h"

namespace whet {

StatusLine::Look RunScreen::look_of_run(const Context& context) { return look_of(context); }

std::string standing_text(const Lineage::Standing& standing) {
  std::string text;
  const auto add = [&](const std::string& part) { text += (text.empty() ? "" : ", ") + part; };
  if (standing.geomean > 0) add(fmt::format("geomean {:.2f}x", standing.geomean));
  if (standing.gain > 0) add(fmt::format("{:.2f}x start", standing.gain));
  if (!standing.worst.empty()) add(fmt::format("worst {} {:.2f}x", standing.worst, standing.worst_ratio));
  return text;
}

void RunScreen::note(const std::string& text) {
  const double seconds = std::chrono::duration<double>(StatusLine::Clock::now() - began_).count();
  line_.note(fmt::format("{:>6}  {}", clock_text(seconds), text));
}

void RunScreen::operator()(const Progress& news) {
  switch (news.kind) {
    case Progress::Kind::begun:
    case Progress::Kind::resumed:
    case Progress::Kind::refused:
    case Progress::Kind::last_call:
      note(news.text);
      break;
    case Progress::Kind::champion:
      note("champion " + std::to_string(news.champion) + (news.text.empty() ? "" : ": " + news.text) + "; " + standing_text(news.standing));
      break;
    case Progress::Kind::phase:
      phase_ = news.text;
      break;
    case Progress::Kind::judged:
      // On a terminal the bar says enough; elsewhere a log wants a line for each.
      phase_ = news.text;
      break;
    case Progress::Kind::worker:
      break;
    case Progress::Kind::ended:
      line_.clear();
      note("ended: " + news.text);
      return;
  }
  std::string text = standing_text(news.standing);
  text += fmt::format("{}step {}, {} candidates", text.empty() ? "" : ", ", news.step, news.candidates);
  if (std::isfinite(news.seconds_left)) text += fmt::format(", {} left", clock_text(news.seconds_left));
  if (!phase_.empty()) text += " | " + phase_;
  line_.show(news.share_used, text);
}

std::string run_text(const OptimizeResult& result, const Task& task, const RunSetting& setting, const std::string& ledger_flag, const Context& context,
                     bool columns) {
  std::string text;
  if (result.final) {
    const Evaluation shown = without_baseline(*result.final, task.start, task.goal);
    text += show_evaluation(shown, context, columns) + "\n";
    if (const auto gain = geomean_against(*result.final, task.start))
      text += fmt::format("The champion against {}, in the same judgement: {}\n", task.start, interval_text(*gain));
    else if (result.champions == 0)
      text += fmt::format("No Candidate was shown to be faster than {}; the champion is {} itself.\n", task.start, task.start);
  } else {
    text += "There is no final judgement yet.\n";
  }
  text += fmt::format("Run {} ({}): {} steps, {} candidates, {} champions, {} of search.\n", result.run_id, result.ended, result.steps, result.candidates,
                      result.champions, clock_text(result.seconds));
  text += fmt::format("\n  the champion's changes   git -C {}/repo diff main champion\n", setting.folder);
  if (result.final) text += fmt::format("  measure it again         whet recheck {}{}\n", result.final->id, ledger_flag);
  else text += fmt::format("  go on                    whet resume {}{}\n", setting.folder, ledger_flag);
  return text;
}

}  // namespace whet
