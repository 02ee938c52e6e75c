// SPDX-License-Identifier: Apache-2.0
#include "record/solution.h"

#include <algorithm>

#include "base/file.h"
#include "base/hash.h"
#include "base/json_impl.h"
#include "record/glob.h"
#include "record/keys.h"

namespace whet {
namespace {

constexpr std::string_view kManifest = "solution.json";
constexpr std::string_view kEntrySymbol = "whet_solution_v1";

std::string one_of(JsonReader& in, const char* key, const std::vector<std::string>& words, std::string fallback) {
  const std::string word = in.string_or(key, fallback);
  if (std::find(words.begin(), words.end(), word) == words.end())
    in.complain(key, "unknown value \"" + word + "\"" + suggestion(word, words));
  return word;
}

void read_spec(const Json& json, Solution& solution, JsonReader& outer) {
  static const std::vector<std::string> kLanguages = {"cpp", "cuda", "python", "triton", "tilelang"};
  static const std::vector<std::string> kBindings = {"whet", "tvm-ffi", "torch"};
  JsonReader in(json, outer.file(), "spec", outer.complaints());
  if (in.string("language") != "") solution.language = one_of(in, "language", kLanguages, "");
  solution.binding = one_of(in, "binding", kBindings, "tvm-ffi");  // what FlashInfer-Bench takes an absent one for
  solution.target_hardware = in.strings_or_empty("target_hardware");
  if (solution.target_hardware.empty()) in.complain("target_hardware", "expected at least one name, such as \"cpu\"");
  solution.entry_point = in.string("entry_point");
  solution.dependencies = in.strings_or_empty("dependencies");
  solution.destination_passing = in.boolean_or("destination_passing_style", true);
  if (const Json* options = in.find("compile_options")) {
    JsonReader flags(*options, outer.file(), "spec.compile_options", outer.complaints());
    solution.cflags = flags.strings_or_empty("cflags");
    solution.ld_flags = flags.strings_or_empty("ld_flags");
  }
}

void add_matching(const std::string& glob, const std::map<std::string, std::string>& files, Solution& solution,
                  JsonReader& in) {
  bool any = false;
  for (const auto& [path, contents] : files) {
    if (path == kManifest || !glob_matches(glob, path)) continue;
    any = true;
    solution.sources[path] = contents;
  }
  if (!any) in.complain("sources", "no file of the folder matches \"" + glob + "\"");
}

void add_inlined(const Json& item, std::size_t index, Solution& solution, JsonReader& outer) {
  JsonReader in(item, outer.file(), fmt::format("sources[{}]", index), outer.complaints());
  const std::string path = in.string("path"), content = in.string("content");
  if (path.empty()) return;
  if (!solution.sources.emplace(path, content).second) in.complain("path", "\"" + path + "\" stands twice");
}

void read_sources(const std::map<std::string, std::string>& files, Solution& solution, JsonReader& in) {
  if (!in.find("sources") || !in.find("sources")->is_array()) {
    in.array("sources");
    return;
  }
  const Json& list = in.array("sources");
  if (list.empty()) in.complain("sources", "expected at least one source, found none");
  for (std::size_t i = 0; i < list.size(); ++i) {
    if (list[i].is_string()) add_matching(list[i].get<std::string>(), files, solution, in);
    else if (list[i].is_object()) add_inlined(list[i], i, solution, in);
    else
      in.complain(fmt::format("sources[{}]", i),
                  "expected a glob (\"*.cc\") or {\"path\", \"content\"}, found " + brief(list[i]));
  }
  for (const auto& [path, contents] : solution.sources) {
    if (!is_plain_relative_path(path))
      in.complain("sources",
                  "expected a path below the folder, relative and without \"..\", found " + brief(Json(path)));
    if (!is_utf8(contents)) in.complain("sources", "the source \"" + path + "\" is not UTF-8");
  }
}

void check_entry_point(const Solution& solution, JsonReader& in) {
  const std::string& entry = solution.entry_point;
  if (entry.empty()) return;
  const std::size_t colons = entry.find("::");
  if (colons == std::string::npos || colons == 0 || entry.find("::", colons + 1) != std::string::npos) {
    in.complain("spec.entry_point", "expected \"FILE::SYMBOL\", found " + brief(Json(entry)));
    return;
  }
  const std::string file = entry.substr(0, colons), symbol = entry.substr(colons + 2);
  if (!solution.sources.contains(file) && !solution.sources.empty()) {
    std::vector<std::string> paths;
    for (const auto& [path, contents] : solution.sources) paths.push_back(path);
    in.complain("spec.entry_point",
                "the file " + brief(Json(file)) + " is not among the sources" + suggestion(file, paths));
  }
  const bool compiled = solution.language == "cpp" || solution.language == "cuda";
  if (solution.binding == "whet" && compiled && symbol != kEntrySymbol)
    in.complain("spec.entry_point",
                fmt::format("with binding \"whet\" the symbol is {}, found {}", kEntrySymbol, brief(Json(symbol))));
  else if (!is_identifier(symbol))
    in.complain("spec.entry_point", "the symbol must be an identifier, found " + brief(Json(symbol)));
}

void read_definitions(const std::string& theirs, Solution& solution, JsonReader& in) {
  static const std::vector<std::string> kKeys = {"definitions"};
  if (!theirs.empty()) solution.definitions = {theirs};
  const Json* whet = in.find("whet");
  if (!whet) return;
  JsonReader ours(*whet, in.file(), "whet", in.complaints());
  complain_about_unknown_keys(*whet, kKeys, ours);
  if (!ours.has("definitions")) return;
  solution.definitions = ours.strings_or_empty("definitions");
  if (!theirs.empty() &&
      std::find(solution.definitions.begin(), solution.definitions.end(), theirs) == solution.definitions.end())
    ours.complain("definitions", "expected it to contain the definition \"" + theirs + "\" too");
  for (std::size_t i = 1; i < solution.definitions.size(); ++i)
    if (std::find(solution.definitions.begin(), solution.definitions.begin() + i, solution.definitions[i]) !=
        solution.definitions.begin() + i)
      ours.complain("definitions", "\"" + solution.definitions[i] + "\" stands twice");
}

}  // namespace

Solution solution_from_files(const std::map<std::string, std::string>& files, const std::string& where,
                             std::vector<std::string>& complaints) {
  Solution solution;
  auto manifest = files.find(std::string(kManifest));
  if (manifest == files.end()) {
    complaints.push_back(where + ": there is no solution.json in this folder");
    return solution;
  }
  const std::string file = where.empty() ? std::string(kManifest) : where + "/" + std::string(kManifest);
  auto json = parse_json(manifest->second, file);
  if (!json) {
    complaints.push_back(json.error().what);
    return solution;
  }
  JsonReader in(*json, file, "", complaints);
  if (!json->is_object()) return solution;
  solution.name = in.string("name");
  solution.author = in.string("author");
  solution.description = in.string_or("description", "");
  const std::string definition = in.string("definition");
  const Json& spec = in.object("spec");
  if (in.has("spec") && in.find("spec")->is_object()) read_spec(spec, solution, in);
  read_sources(files, solution, in);
  check_entry_point(solution, in);
  read_definitions(definition, solution, in);
  return solution;
}

Json to_json(const Solution& solution, const std::string& definition) {
  Json json;
  json["name"] = solution.name;
  json["definition"] = definition;
  json["author"] = solution.author;
  if (!solution.description.empty()) json["description"] = solution.description;
  Json& spec = json["spec"];
  spec["language"] = solution.language;
  spec["target_hardware"] = solution.target_hardware;
  spec["entry_point"] = solution.entry_point;
  spec["dependencies"] = solution.dependencies;
  spec["destination_passing_style"] = solution.destination_passing;
  spec["binding"] = solution.binding;
  spec["compile_options"] = {{"cflags", solution.cflags}, {"ld_flags", solution.ld_flags}};
  json["sources"] = Json::array();
  for (const auto& [path, contents] : solution.sources)
    json["sources"].push_back({{"path", path}, {"content", contents}});
  json["whet"] = {{"definitions", solution.definitions}};
  return json;
}

std::string solution_hash(const Solution& solution) {
  Json spec;
  spec["language"] = solution.language;
  spec["binding"] = solution.binding;
  spec["destination_passing_style"] = solution.destination_passing;
  spec["entry_point"] = solution.entry_point;
  spec["dependencies"] = solution.dependencies;
  spec["cflags"] = solution.cflags;
  spec["ld_flags"] = solution.ld_flags;
  spec["definitions"] = solution.definitions;
  // Sources lie below "sources/", so that none can pose as the spec.
  std::map<std::string, std::string> tree = {{"spec", spec.dump(-1, ' ', false, Json::error_handler_t::replace)}};
  for (const auto& [path, contents] : solution.sources) tree["sources/" + path] = contents;
  return tree_hash(tree);
}

}  // namespace whet
