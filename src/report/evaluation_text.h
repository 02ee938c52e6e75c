// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "record/evaluation.h"
#include "report/table.h"

namespace whet {

// The whole of a judgement for a terminal: heading, table of workloads, Verdicts, Scoreboard, the worst three with why, the candidate's kernels, where the seconds went, the noise
// floor, the machine, remarks. The parts are the functions below; each ends with a line feed, or is empty where there is nothing to say.
std::string evaluation_text(const Evaluation& evaluation, const ReportStyle& style);

// Workload, family, Verdict, medians of the candidate and of every baseline (the fastest marked with *), ratio to the fastest.
std::string workloads_text(const Evaluation& evaluation, const ReportStyle& style);
// The resident and cold medians of the candidate and of the fastest baseline.
std::string columns_text(const Evaluation& evaluation, const ReportStyle& style);
// Every Verdict that is not `correct`, with the workloads that share it, and the candidate's build log if that is what failed.
std::string verdicts_text(const Evaluation& evaluation, const ReportStyle& style);
std::string scoreboard_text(const Scoreboard& scoreboard, const ReportStyle& style);
std::string worst_text(const Evaluation& evaluation, const ReportStyle& style);
// What the device compiler said of the candidate's kernels; advice by its number ("C7510"), with one text of each number in full below the table.
std::string kernels_text(const Evaluation& evaluation, const ReportStyle& style);
// In seconds and as shares of the total; admission is part of the others.
std::string seconds_text(const TimeSpent& seconds, const ReportStyle& style);
// One line about the machine out of Evaluation.environment.
std::string environment_text(const std::string& environment, const ReportStyle& style);

}  // namespace whet
