// SPDX-License-Identifier: Apache-2.0
#include "truth/profile/label.h"

#include "base/json_impl.h"

namespace whet {
namespace {

Label unknown(std::string because) { return {"unknown", "No rule holds.", std::move(because), {}}; }

void read_condition(JsonReader& in, LabelRule& rule) {
  LabelRule::Condition condition;
  condition.counter = in.string("counter");
  if (in.has("at_least") == in.has("at_most")) in.complain("at_least", "expected exactly one of at_least and at_most");
  condition.at_least = in.has("at_least");
  condition.threshold = in.number_or(condition.at_least ? "at_least" : "at_most", 0);
  rule.all.push_back(std::move(condition));
}

LabelRule read_rule(JsonReader& in) {
  LabelRule rule;
  rule.id = in.string("id");
  rule.meaning = in.string("meaning");
  rule.because = in.string("because");
  rule.of_call = in.boolean_or("call", false);
  const Json& all = in.array("all");
  if (all.empty()) in.complain("all", "expected at least one condition");
  for (std::size_t i = 0; i < all.size(); ++i) {
    JsonReader condition(all[i], in.file(), in.path() + ".all[" + std::to_string(i) + "]", in.complaints());
    read_condition(condition, rule);
  }
  return rule;
}

}  // namespace

Expected<std::vector<LabelRule>> read_label_rules(std::string_view json, const std::string& where) {
  WHET_TRY(const Json rules, parse_json(json, where));
  if (!rules.is_array()) return bad_input("{}: expected a list of rules, found {}", where, brief(rules));
  std::vector<std::string> complaints;
  std::vector<LabelRule> read;
  for (std::size_t i = 0; i < rules.size(); ++i) {
    JsonReader in(rules[i], where, "[" + std::to_string(i) + "]", complaints);
    read.push_back(read_rule(in));
  }
  if (!complaints.empty()) return bad_input("{}", fmt::join(complaints, "\n"));
  return read;
}

std::optional<Label> label_where_it_holds(const LabelRule& rule, const std::map<std::string, Counter>& counters) {
  Label label{rule.id, rule.meaning, rule.because, {}};
  for (const LabelRule::Condition& condition : rule.all) {
    const auto found = counters.find(condition.counter);
    if (found == counters.end()) return std::nullopt;
    const double value = found->second.value;
    if (!(condition.at_least ? value >= condition.threshold : value <= condition.threshold)) return std::nullopt;
    label.reasons.push_back({condition.counter, found->second, condition.at_least, condition.threshold});
  }
  return label;
}

void label_launch(LaunchProfile& launch, const std::vector<LabelRule>& rules) {
  launch.further.clear();
  bool first = true;
  std::string lacking;
  for (const LabelRule& rule : rules) {
    if (rule.of_call) continue;
    for (const LabelRule::Condition& condition : rule.all)
      if (!launch.counters.count(condition.counter) && lacking.find(condition.counter) == std::string::npos) lacking += (lacking.empty() ? "" : ", ") + condition.counter;
    auto label = label_where_it_holds(rule, launch.counters);
    if (!label) continue;
    if (std::exchange(first, false)) launch.label = *std::move(label);
    else launch.further.push_back(*std::move(label));
  }
  if (first) launch.label = unknown(lacking.empty() ? "No counter is at the threshold of a rule: nothing that this profile measures is near its limit." : "Counters are missing: " + lacking + ".");
}

void label_call(Profile& profile, const std::vector<LabelRule>& rules) {
  std::map<std::string, Counter> counters;
  const double launches = static_cast<double>(profile.launches.size());
  counters["whet__launches.sum"] = {launches, ""};
  if (launches > 0) counters["whet__ns_per_launch.avg"] = {profile.total_ns / launches, "ns"};
  for (const LabelRule& rule : rules)
    if (rule.of_call)
      if (auto label = label_where_it_holds(rule, counters)) {
        profile.label = *std::move(label);
        return;
      }
  std::map<std::string, double> ns;
  for (const LaunchProfile& launch : profile.launches) ns[launch.label.id] += launch.ns;
  double most = -1, longest = -1;
  std::string id;
  for (const auto& [label, time] : ns)
    if (time > most) most = time, id = label;
  profile.label = unknown("There is no launch.");
  for (const LaunchProfile& launch : profile.launches)
    if (launch.label.id == id && launch.ns > longest) longest = launch.ns, profile.label = launch.label;
}

}  // namespace whet
