// SPDX-License-Identifier: Apache-2.0
#include "task/load.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "base/file.h"
#include "base/hash.h"
#include "base/json_impl.h"
#include "record/constraint.h"
#include "record/glob.h"
#include "record/keys.h"
#include "task/ranges.h"
#include "task/safetensors.h"
#include "task/task_toml.h"

namespace whet {
namespace {

constexpr std::size_t kMostComplaints = 200;

bool contains(const std::vector<std::string>& list, std::string_view word) {
  return std::find(list.begin(), list.end(), word) != list.end();
}

// One reading of a folder; each step adds to the task and to the report.
class Loader {
 public:
  Loader(const TaskFiles& files, const std::string& where) : files_(files), prefix_(where.empty() || where.ends_with("/") ? where : where + "/") {}

  TaskReport run() {
    check_paths();
    auto text = files_.find("task.toml");
    if (text == files_.end()) {
      complain(prefix_ + "task.toml",
               "missing; a task is a folder with task.toml, definitions/, workloads/ and solutions/");
      return std::move(report_);
    }
    const std::size_t before = report_.complaints.size();
    toml_ = task_toml_from_text(text->second, prefix_ + "task.toml", report_.complaints);
    if (toml_.task.name.empty() && report_.complaints.size() == before + 1 && toml_.lines.empty())
      return std::move(report_);  // not TOML
    task_ = toml_.task;
    read_definitions();
    read_workloads();
    check_sets();
    read_solutions();
    check_roles_of_solutions();
    check_editable();
    check_goal();
    if (!definitions_broken_) check_ranges(toml_, task_, report_.complaints);
    if (report_.complaints.empty()) report_.task = std::move(task_);
    return std::move(report_);
  }

 private:
  void complain(const std::string& at, const std::string& message) {
    report_.complaints.push_back(at + ": " + message);
  }
  void warn(const std::string& at, const std::string& message) { report_.warnings.push_back(at + ": " + message); }

  void check_paths() {
    for (const auto& [path, contents] : files_)
      if (!is_plain_relative_path(path)) complain(prefix_ + path, "expected a path below the task's folder");
  }

  void read_definitions() {
    std::map<std::string, Definition> read;
    std::map<std::string, std::string> file_of;
    std::set<std::string> broken;
    for (const auto& [path, contents] : files_) {
      if (!path.starts_with("definitions/") || !path.ends_with(".json")) continue;
      const std::size_t before = report_.complaints.size();
      auto json = parse_json(contents, prefix_ + path);
      if (!json) {
        report_.complaints.push_back(json.error().what);
        broken.insert(path);
        continue;
      }
      Definition definition = definition_from_json(*json, prefix_ + path, report_.complaints);
      if (report_.complaints.size() != before) broken.insert(path), broken_.insert(definition.name);
      if (definition.name.empty()) continue;
      if (file_of.contains(definition.name)) {
        complain(prefix_ + path + ": name",
                 "\"" + definition.name + "\" is also the name of " + prefix_ + file_of[definition.name]);
        continue;
      }
      file_of[definition.name] = path;
      note_constraints(definition, prefix_ + path);
      if (!contains(toml_.definitions, definition.name) && !toml_.definitions.empty())
        complain(prefix_ + path + ": name", "\"" + definition.name + "\" is not listed in task.toml's definitions" +
                                                suggestion(definition.name, toml_.definitions));
      read[definition.name] = std::move(definition);
    }
    for (const std::string& name : toml_.definitions) {
      if (auto it = read.find(name); it != read.end()) task_.definitions.push_back(it->second);
      else if (broken.empty())
        complain(toml_.at("definitions"),
                 "no file of definitions/ defines \"" + name + "\"" + suggestion(name, keys_of(read)));
    }
    definitions_broken_ = !broken.empty();
  }

  void note_constraints(const Definition& definition, const std::string& file) {
    std::map<std::string, int64_t> ones;
    for (const Axis& axis : definition.axes) ones[axis.name] = 1;
    for (const std::string& constraint : definition.constraints)
      if (evaluate_constraint(constraint, ones).kind == ConstraintResult::Kind::note)
        warn(file + ": constraints",
             "\"" + constraint + "\" is kept as a note: it is not an expression over axes alone");
  }

  template <class Map>
  static std::vector<std::string> keys_of(const Map& map) {
    std::vector<std::string> keys;
    for (const auto& [key, value] : map) keys.push_back(key);
    return keys;
  }

  void read_workloads() {
    std::map<std::string, std::vector<Workload>> read;  // by Definition
    for (const auto& [path, contents] : files_) {
      if (!path.starts_with("workloads/") || !path.ends_with(".jsonl")) continue;
      std::size_t number = 0;
      for (std::size_t start = 0; start < contents.size();) {
        const std::size_t end = std::min(contents.find('\n', start), contents.size());
        ++number;
        const std::string_view line(contents.data() + start, end - start);
        if (line.find_first_not_of(" \t\r") != std::string_view::npos)
          read_workload(line, fmt::format("{}{}:{}", prefix_, path, number), read);
        start = end + 1;
      }
    }
    for (const Definition& definition : task_.definitions) {
      if (read[definition.name].empty() && !broken_.contains(definition.name))
        complain(toml_.at("definitions"), "\"" + definition.name + "\" has no workload under workloads/");
      for (Workload& workload : read[definition.name]) task_.workloads.push_back(std::move(workload));
    }
  }

  void read_workload(std::string_view line, const std::string& at, std::map<std::string, std::vector<Workload>>& read) {
    auto json = parse_json(line, at);
    if (!json) {
      report_.complaints.push_back(json.error().what);
      return;
    }
    const std::string name = json->is_object() && json->contains("definition") && (*json)["definition"].is_string()
                                 ? (*json)["definition"].get<std::string>()
                                 : "";
    const Definition* definition = task_.definition(name);
    if (!definition) {
      if (!json->is_object()) complain(at, "expected an object, found " + brief(*json));
      else if (name.empty()) complain(at + ": definition", "missing; expected a non-empty string");
      else if (!definitions_broken_)
        complain(at + ": definition", "there is no Definition \"" + name + "\"" + suggestion(name, toml_.definitions));
      return;
    }
    if (broken_.contains(name)) return;  // what it says about a broken Definition means nothing
    const std::size_t before = report_.complaints.size();
    Workload workload = workload_from_json(*json, *definition, at, report_.complaints, task_.tolerance);
    for (const auto& [key, value, seen] :
         {std::tuple{"name", &workload.name, &names_}, std::tuple{"uuid", &workload.uuid, &uuids_}}) {
      if (value->empty()) continue;
      auto [first, is_new] = seen->emplace(*value, at);
      const bool ours = std::string_view(key) == "name";
      if (!is_new && !(ours && workload.name == workload.uuid))
        complain(at + (ours ? ": workload.whet.name" : ": workload.uuid"),
                 "\"" + *value + "\" stands already at " + first->second);
    }
    for (const std::string& set : workload.sets)
      if (!task_.sets.contains(set))
        complain(at + ": workload.whet.sets",
                 "\"" + set + "\" is not declared in task.toml's [sets]" + suggestion(set, keys_of(task_.sets)));
    if (report_.complaints.size() == before) check_payloads(workload, *definition, at);
    read[name].push_back(std::move(workload));
  }

  void check_payloads(const Workload& workload, const Definition& definition, const std::string& at) {
    for (const auto& [name, source] : workload.inputs) {
      if (source.kind != InputSource::Kind::safetensors) continue;
      const std::string key = at + ": workload.inputs." + name;
      auto file = files_.find(source.path);
      if (file == files_.end()) {
        complain(key, "payload missing: there is no file " + source.path);
        continue;
      }
      const TensorSpec& spec = *definition.input(name);
      auto tensor = load_safetensor(file->second, source.tensor_key, spec.dtype,
                                    shape_of(definition, spec, workload.axes), prefix_ + source.path);
      if (!tensor) complain(key, tensor.error().what);
    }
  }

  void check_sets() {
    for (const auto& [name, description] : task_.sets)
      if (task_.set(name).empty() && !task_.workloads.empty() && report_.complaints.empty())
        complain(toml_.at("sets." + name), "no workload belongs to this set");
    if (!task_.sets.contains("full") && toml_.lines.contains("sets"))
      complain(toml_.at("sets"),
               "expected a set \"full\", which scores are stated for" + suggestion("full", keys_of(task_.sets)));
  }

  void read_solutions() {
    std::set<std::string> folders;
    for (const auto& [path, contents] : files_) {
      if (!path.starts_with("solutions/")) continue;
      const std::size_t slash = path.find('/', 10);
      if (slash != std::string::npos) folders.insert(path.substr(10, slash - 10));
    }
    for (const std::string& folder : folders) {
      const std::string at = prefix_ + "solutions/" + folder;
      if (!is_plain_name(folder)) complain(at, "the name of a Solution has letters, digits and . _ + = - only");
      Solution solution = solution_from_files(solution_files(files_, folder), at, report_.complaints);
      for (const std::string& name : solution.definitions)
        if (!task_.definition(name) && !definitions_broken_)
          complain(at + "/solution.json: whet.definitions",
                   "the task has no Definition \"" + name + "\"" + suggestion(name, toml_.definitions));
      if (!is_runnable(solution))
        warn(at + "/solution.json: spec",
             "not runnable here: " + solution.language + " with binding " + solution.binding);
      if (folder != task_.reference && folder != task_.start && !contains(task_.baselines, folder))
        warn(at, "task.toml names this Solution nowhere");
      task_.solutions[folder] = std::move(solution);
    }
  }

  // One in Python is called by the runner's own bridge, whatever its binding says, and may return its outputs.
  static bool is_runnable(const Solution& solution) {
    if (solution.language == "python" || solution.language == "triton") return true;
    return (solution.language == "cpp" || solution.language == "cuda") && solution.binding == "whet" && solution.destination_passing;
  }

  void check_roles_of_solutions() {
    const auto check = [&](const std::string& key, const std::string& name, bool all_definitions) {
      if (name.empty()) return;
      auto found = task_.solutions.find(name);
      if (found == task_.solutions.end()) {
        complain(toml_.at(key), "there is no folder solutions/" + name + suggestion(name, keys_of(task_.solutions)));
        return;
      }
      if (!is_runnable(found->second) && !found->second.entry_point.empty())
        complain(toml_.at(key), fmt::format("\"{}\" cannot be judged: expected language cpp or cuda with binding whet and destination "
                                            "passing, or python or triton, found {} with binding {}",
                                            name, found->second.language, found->second.binding));
      for (const std::string& definition : toml_.definitions)
        if (all_definitions && !contains(found->second.definitions, definition) && !found->second.definitions.empty())
          complain(toml_.at(key),
                   "\"" + name + "\" does not implement \"" + definition + "\"; add it to its whet.definitions");
    };
    check("reference", task_.reference, true);
    check("start", task_.start, true);
    for (const std::string& name : task_.baselines) check("baselines", name, false);
    for (const Definition& definition : task_.definitions) {
      const auto implements = [&](const std::string& name) {
        auto found = task_.solutions.find(name);
        return found == task_.solutions.end() || contains(found->second.definitions, definition.name);
      };
      if (!task_.baselines.empty() && std::none_of(task_.baselines.begin(), task_.baselines.end(), implements))
        complain(toml_.at("baselines"), "none implements \"" + definition.name + "\"");
    }
  }

  void check_editable() {
    const auto start = solution_files(files_, task_.start);
    if (start.empty()) return;
    for (const std::string& glob : task_.editable)
      if (std::none_of(start.begin(), start.end(), [&](const auto& file) { return glob_matches(glob, file.first); }))
        complain(toml_.at("editable"), "\"" + glob + "\" matches no file of solutions/" + task_.start);
  }

  void check_goal() {
    static constexpr std::string_view kVersus = "geomean_vs:";
    const std::string& metric = task_.goal.metric;
    if (metric == "geomean_vs_fastest") return;
    if (!metric.starts_with(kVersus)) {
      static const std::vector<std::string> kMetrics = {"geomean_vs_fastest", "geomean_vs:BASELINE"};
      complain(toml_.at("goal.metric"), "unknown metric \"" + metric + "\"" + suggestion(metric, kMetrics));
    } else if (const std::string name = metric.substr(kVersus.size()); !contains(task_.baselines, name)) {
      complain(toml_.at("goal.metric"), "there is no baseline \"" + name + "\"" + suggestion(name, task_.baselines));
    }
  }

  const TaskFiles& files_;
  std::string prefix_;
  TaskReport report_;
  TaskToml toml_;
  Task task_;
  std::set<std::string> broken_;  // names of Definitions with complaints
  bool definitions_broken_ = false;
  std::map<std::string, std::string> names_, uuids_;  // -> where it stands
};

bool is_for_people(std::string_view path) {
  const std::string_view name = path.substr(path.rfind('/') == std::string_view::npos ? 0 : path.rfind('/') + 1);
  return name.starts_with("README") || name.starts_with("LICENSE") || name.ends_with(".md");
}

}  // namespace

TaskReport read_task(const TaskFiles& files, const std::string& where) { return Loader(files, where).run(); }

Expected<Task> load_task(const TaskFiles& files, const std::string& where) {
  TaskReport report = read_task(files, where);
  if (report.task) return *std::move(report.task);
  std::vector<std::string>& lines = report.complaints;
  const std::size_t more = lines.size() > kMostComplaints ? lines.size() - kMostComplaints : 0;
  lines.resize(lines.size() - more);
  if (more > 0) lines.push_back(fmt::format("... and {} more", more));
  return bad_input("{}", fmt::join(lines, "\n"));
}

std::string task_hash(const TaskFiles& files) {
  std::vector<std::string> complaints;
  auto text = files.find("task.toml");
  if (text == files.end()) return tree_hash(files);
  const TaskToml toml = task_toml_from_text(text->second, "task.toml", complaints);
  if (!complaints.empty()) return tree_hash(files);
  std::map<std::string, std::string> kept;
  for (const auto& [path, contents] : files) {
    if (is_for_people(path)) continue;
    if (path.starts_with("solutions/")) {
      const std::string name = path.substr(10, std::min(path.find('/', 10), path.size()) - 10);
      // A `start` that is also the reference or a baseline counts as that.
      if (name != toml.task.reference && !contains(toml.task.baselines, name)) continue;
    }
    kept[path] = contents;
  }
  return tree_hash(kept);
}

std::map<std::string, std::string> solution_files(const TaskFiles& files, const std::string& name) {
  std::map<std::string, std::string> below;
  const std::string folder = "solutions/" + name + "/";
  for (auto it = files.lower_bound(folder); it != files.end() && it->first.starts_with(folder); ++it)
    below[it->first.substr(folder.size())] = it->second;
  return below;
}

}  // namespace whet
