// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "record/profile.h"

namespace whet {

// When a label is given: all conditions hold. Rules are data (levers/labels.json), ordered from particular causes to general limits.
struct LabelRule {
  struct Condition {
    std::string counter;
    bool at_least = true;
    double threshold = 0;
  };
  std::string id, meaning, because;
  bool of_call = false;  // of the whole call, not of a launch
  std::vector<Condition> all;
};

// All complaints at once; `where` names the file.
Expected<std::vector<LabelRule>> read_label_rules(std::string_view json, const std::string& where);

// The label with its counters and their values, or nothing: a condition does not hold, or its counter is missing.
std::optional<Label> label_where_it_holds(const LabelRule& rule, const std::map<std::string, Counter>& counters);

// label = the first rule of launches that holds, further = the others. "unknown", with a reason in `because`, where none does.
void label_launch(LaunchProfile& launch, const std::vector<LabelRule>& rules);

// The label of the call, once its launches have theirs: a rule of calls, else the label with most time behind it, as its longest launch has it.
void label_call(Profile& profile, const std::vector<LabelRule>& rules);

}  // namespace whet
