// SPDX-License-Identifier: Apache-2.0
#include "record/sanitizing.h"

#include <algorithm>
#include <array>

#include "record/exact_reader.h"

namespace whet {
namespace {

using Outcome = SanitizerReport::Outcome;
constexpr std::array<const char*, 3> kOutcomes = {"clean", "found", "failed"};
constexpr int64_t kMost = int64_t{1} << 52;

Json finding_json(const SanitizerFinding& finding) {
  return {{"kind", finding.kind},     {"sentence", finding.sentence}, {"kernel", finding.kernel}, {"place", finding.place}, {"thread", finding.thread},
          {"block", finding.block}, {"address", finding.address},   {"detail", finding.detail}, {"bytes", finding.bytes}, {"times", finding.times}};
}

SanitizerFinding finding_from(const Json& json, const ExactReader& parent, std::size_t index) {
  ExactReader in(json, parent, "findings", index);
  SanitizerFinding finding;
  finding.kind = in.string("kind");
  finding.sentence = in.string("sentence");
  finding.kernel = in.string("kernel");
  finding.place = in.string("place");
  finding.thread = in.string("thread");
  finding.block = in.string("block");
  finding.address = in.string("address");
  finding.detail = in.string("detail");
  finding.bytes = in.whole("bytes", 0, kMost);
  finding.times = in.whole("times", 0, kMost);
  in.finish();
  return finding;
}

Json report_json(const SanitizerReport& report) {
  Json findings = Json::array();
  for (const SanitizerFinding& finding : report.findings) findings.push_back(finding_json(finding));
  return {{"tool", report.tool},     {"outcome", kOutcomes[static_cast<std::size_t>(report.outcome)]}, {"sentence", report.sentence}, {"errors", report.errors},
          {"warnings", report.warnings}, {"findings", std::move(findings)}};
}

SanitizerReport report_from(const Json& json, const ExactReader& parent, std::size_t index) {
  ExactReader in(json, parent, "reports", index);
  SanitizerReport report;
  report.tool = in.string("tool");
  const std::string outcome = in.string("outcome");
  const auto known = std::find(kOutcomes.begin(), kOutcomes.end(), outcome);
  if (known == kOutcomes.end()) in.complain("outcome", "expected clean, found or failed, found \"" + outcome + "\"");
  else report.outcome = static_cast<Outcome>(known - kOutcomes.begin());
  report.sentence = in.string("sentence");
  report.errors = in.whole("errors", 0, kMost);
  report.warnings = in.whole("warnings", 0, kMost);
  std::size_t at = 0;
  for (const Json& finding : in.array("findings")) report.findings.push_back(finding_from(finding, in, at++));
  in.finish();
  return report;
}

}  // namespace

bool Sanitizing::clean() const {
  return !reports.empty() && std::all_of(reports.begin(), reports.end(), [](const SanitizerReport& report) { return report.outcome == Outcome::clean; });
}
bool Sanitizing::failed() const {
  return std::any_of(reports.begin(), reports.end(), [](const SanitizerReport& report) { return report.outcome == Outcome::failed; });
}

Json to_json(const Sanitizing& sanitizing) {
  Json reports = Json::array();
  for (const SanitizerReport& report : sanitizing.reports) reports.push_back(report_json(report));
  return {{"task", sanitizing.task}, {"workload", sanitizing.workload}, {"solution", sanitizing.solution}, {"version", sanitizing.version}, {"clean", sanitizing.clean()},
          {"reports", std::move(reports)}};
}

Expected<Sanitizing> sanitizing_from_json(const Json& json, const std::string& where) {
  ExactReader::Failure failure{where, {}};
  ExactReader in(json, failure);
  Sanitizing sanitizing;
  sanitizing.task = in.string("task");
  sanitizing.workload = in.string("workload");
  sanitizing.solution = in.string("solution");
  sanitizing.version = in.string("version");
  (void)in.boolean("clean");  // follows from the reports
  std::size_t index = 0;
  for (const Json& report : in.array("reports")) sanitizing.reports.push_back(report_from(report, in, index++));
  in.finish();
  if (failure.error) return std::unexpected(*failure.error);
  return sanitizing;
}

}  // namespace whet
