// SPDX-License-Identifier: Apache-2.0
#include "record/profile.h"

#include "record/exact_reader.h"

namespace whet {
namespace {

Json counter_json(const Counter& counter) { return {{"value", json_double(counter.value)}, {"unit", counter.unit}}; }

Counter counter_from(const Json& json, const ExactReader& parent, std::string_view key) {
  ExactReader in(json, parent, key);
  Counter counter{in.number("value"), in.string("unit")};
  in.finish();
  return counter;
}

Json label_json(const Label& label) {
  Json reasons = Json::array();
  for (const LabelReason& reason : label.reasons)
    reasons.push_back({{"counter", reason.counter}, {"found", counter_json(reason.found)}, {"at_least", reason.at_least}, {"threshold", json_double(reason.threshold)}});
  return {{"id", label.id}, {"meaning", label.meaning}, {"because", label.because}, {"reasons", std::move(reasons)}};
}

Label label_of(ExactReader& in) {
  Label label;
  label.id = in.string("id");
  label.meaning = in.string("meaning");
  label.because = in.string("because");
  std::size_t index = 0;
  for (const Json& json : in.array("reasons")) {
    ExactReader reason(json, in, "reasons", index++);
    LabelReason& read = label.reasons.emplace_back();
    read.counter = reason.string("counter");
    read.found = counter_from(reason.object("found"), reason, "found");
    read.at_least = reason.boolean("at_least");
    read.threshold = reason.number("threshold");
    reason.finish();
  }
  in.finish();
  return label;
}

Json roofline_json(const std::vector<RooflinePart>& parts) {
  Json json = Json::array();
  for (const RooflinePart& part : parts)
    json.push_back({{"resource", part.resource}, {"achieved", json_double(part.achieved)}, {"ceiling", json_double(part.ceiling)}, {"unit", part.unit},
                    {"ceiling_from", part.ceiling_from}});
  return json;
}

Json launch_json(const LaunchProfile& launch) {
  Json counters = Json::object(), further = Json::array();
  for (const auto& [name, counter] : launch.counters) counters[name] = counter_json(counter);
  for (const Label& label : launch.further) further.push_back(label_json(label));
  return {{"kernel", launch.kernel}, {"grid", launch.grid}, {"block", launch.block}, {"device", launch.device},
          {"compute_capability", launch.compute_capability}, {"ns", json_double(launch.ns)}, {"label", label_json(launch.label)}, {"further", std::move(further)},
          {"roofline", roofline_json(launch.roofline)}, {"counters", std::move(counters)}, {"missing", launch.missing}};
}

std::array<int64_t, 3> extent_from(ExactReader& in, const char* key) {
  std::array<int64_t, 3> extent{};
  const Json& json = in.array(key);
  if (json.size() != 3) {
    in.complain(key, fmt::format("expected three numbers, found {}", json.size()));
    return extent;
  }
  for (std::size_t i = 0; i < 3; ++i) extent[i] = in.integer_of(json[i], key, static_cast<std::ptrdiff_t>(i));
  return extent;
}

void read_roofline(ExactReader& in, std::vector<RooflinePart>& parts) {
  std::size_t index = 0;
  for (const Json& json : in.array("roofline")) {
    ExactReader part(json, in, "roofline", index++);
    parts.push_back({part.string("resource"), part.number("achieved"), part.number("ceiling"), part.string("unit"), part.string("ceiling_from")});
    part.finish();
  }
}

LaunchProfile launch_from(const Json& json, const ExactReader& parent, std::size_t index) {
  ExactReader in(json, parent, "launches", index);
  LaunchProfile launch;
  launch.kernel = in.string("kernel");
  launch.grid = extent_from(in, "grid");
  launch.block = extent_from(in, "block");
  launch.device = in.string("device");
  launch.compute_capability = in.string("compute_capability");
  launch.ns = in.number("ns");
  {
    ExactReader label(in.object("label"), in, "label");
    launch.label = label_of(label);
  }
  std::size_t at = 0;
  for (const Json& further : in.array("further")) {
    ExactReader label(further, in, "further", at++);
    launch.further.push_back(label_of(label));
  }
  read_roofline(in, launch.roofline);
  const Json& counters = in.object("counters");
  for (const auto& [name, counter] : counters.items()) launch.counters[name] = counter_from(counter, in, name);
  launch.missing = in.strings("missing");
  in.finish();
  return launch;
}

}  // namespace

Json to_json(const Profile& profile) {
  Json launches = Json::array();
  for (const LaunchProfile& launch : profile.launches) launches.push_back(launch_json(launch));
  return {{"task", profile.task}, {"workload", profile.workload}, {"solution", profile.solution}, {"tool", profile.tool}, {"label", label_json(profile.label)},
          {"total_ns", json_double(profile.total_ns)}, {"launches", std::move(launches)}, {"notes", profile.notes}};
}

Expected<Profile> profile_from_json(const Json& json, const std::string& where) {
  ExactReader::Failure failure{where, {}};
  ExactReader in(json, failure);
  Profile profile;
  profile.task = in.string("task");
  profile.workload = in.string("workload");
  profile.solution = in.string("solution");
  profile.tool = in.string("tool");
  {
    ExactReader label(in.object("label"), in, "label");
    profile.label = label_of(label);
  }
  profile.total_ns = in.number("total_ns");
  std::size_t index = 0;
  for (const Json& launch : in.array("launches")) profile.launches.push_back(launch_from(launch, in, index++));
  profile.notes = in.strings("notes");
  in.finish();
  if (failure.error) return std::unexpected(*failure.error);
  return profile;
}

}  // namespace whet
