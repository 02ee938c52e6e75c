// SPDX-License-Identifier: Apache-2.0
#include "task/import_flashinfer.h"

#include <algorithm>
#include <fstream>
#include <set>

#include "base/file.h"
#include "base/json_impl.h"
#include "record/keys.h"
#include "task/safetensors.h"

namespace whet {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMaxText = std::size_t{64} << 20;  // a definition, a solution, or one file of workloads

std::string in_quotes(const std::string& text) {
  return Json(text).dump(-1, ' ', false, Json::error_handler_t::replace);
}

// Why FlashInfer Trace's Solution cannot be judged here, or "".
std::string why_not_runnable(const Solution& solution) {
  if (solution.language != "cpp" && solution.language != "cuda") return "language " + solution.language;
  if (solution.binding != "whet")
    return "binding " + solution.binding + "; it needs an entry point whet_solution_v1 (whet/candidate.h)";
  return solution.destination_passing ? "" : "it returns its outputs; it needs destination passing";
}

class Importer {
 public:
  explicit Importer(fs::path folder) : folder_(std::move(folder)) {}

  Expected<Imported> run() {
    std::error_code code;
    root_ = fs::canonical(folder_, code);
    if (code) return bad_input("{}: {}", folder_.string(), code.message());
    if (!fs::is_directory(root_ / "definitions", code))
      return bad_input("{}: not a FlashInfer Trace data set: there is no folder definitions/", folder_.string());
    for (const std::string& path : list("definitions", ".json")) read_definition(path);
    for (const std::string& path : list("workloads", ".jsonl")) read_workloads(path);
    for (const std::string& path : list("solutions", ".json")) read_solution(path);
    for (auto& [name, task] : tasks_) finish(name, task);
    return std::move(out_);
  }

 private:
  struct Open {
    Definition definition;
    std::vector<Workload> workloads;
    ImportedTask task;
    std::set<std::string> solutions;
  };

  // Relative paths of the files below a folder with this ending, sorted. Links to folders are not followed.
  std::vector<std::string> list(const char* below, std::string_view ending) {
    std::vector<std::string> paths;
    std::error_code code;
    for (fs::recursive_directory_iterator it(root_ / below, fs::directory_options::skip_permission_denied, code), end;
         !code && it != end; it.increment(code)) {
      const std::string name = it->path().filename().string();
      std::error_code ignored;
      if (name.ends_with(ending) && it->is_regular_file(ignored))
        paths.push_back(it->path().lexically_relative(root_).generic_string());
    }
    std::sort(paths.begin(), paths.end());
    return paths;
  }

  void complain(const std::string& where, const std::string& message) {
    out_.complaints.push_back(where + ": " + message);
  }

  std::optional<std::string> text_of(const std::string& path) {
    auto text = read_file(root_ / path, kMaxText);
    if (!text) {
      complain(path, text.error().what);
      return std::nullopt;
    }
    if (!is_lfs_pointer(*text)) return *std::move(text);
    out_.payloads_missing.push_back(path + ": a Git-LFS pointer; fetch it with `git lfs pull`");
    return std::nullopt;
  }

  std::optional<Json> json_of(std::string_view text, const std::string& where) {
    auto json = parse_json(text, where);
    if (json) return *std::move(json);
    out_.complaints.push_back(json.error().what);
    return std::nullopt;
  }

  void read_definition(const std::string& path) {
    auto text = text_of(path);
    auto json = text ? json_of(*text, path) : std::nullopt;
    if (!json) return;
    const std::size_t before = out_.complaints.size();
    Definition definition = definition_from_json(*json, path, out_.complaints);
    if (out_.complaints.size() != before) return;
    Open& open = tasks_[definition.name];
    if (!open.definition.name.empty()) {
      complain(path + ": name", in_quotes(definition.name) + " is also the name of another Definition");
      return;
    }
    open.task.name = definition.name;
    open.task.files["definitions/" + definition.name + ".json"] = to_json(definition).dump(2) + "\n";
    open.definition = std::move(definition);
  }

  void read_workloads(const std::string& path) {
    auto text = text_of(path);
    if (!text) return;
    std::size_t number = 0;
    for (std::size_t start = 0; start < text->size();) {
      const std::size_t end = std::min(text->find('\n', start), text->size());
      const std::string_view line = std::string_view(*text).substr(start, end - start);
      ++number;
      start = end + 1;
      if (line.find_first_not_of(" \t\r") != std::string_view::npos)
        read_workload(line, fmt::format("{}:{}", path, number));
    }
  }

  void read_workload(std::string_view line, const std::string& where) {
    auto json = json_of(line, where);
    if (!json) return;
    const std::string name = json->is_object() && json->contains("definition") && (*json)["definition"].is_string()
                                 ? (*json)["definition"].get<std::string>()
                                 : "";
    auto open = tasks_.find(name);
    if (open == tasks_.end()) {
      complain(where + ": definition", "there is no usable Definition " + in_quotes(name));
      return;
    }
    const std::size_t before = out_.complaints.size();
    Workload workload = workload_from_json(*json, open->second.definition, where, out_.complaints);
    if (out_.complaints.size() != before) return;
    if (check_payloads(workload, open->second, where)) open->second.workloads.push_back(std::move(workload));
  }

  bool check_payloads(const Workload& workload, Open& open, const std::string& where) {
    bool whole = true;
    std::map<std::string, fs::path> payloads;
    for (const auto& [name, source] : workload.inputs) {
      if (source.kind != InputSource::Kind::safetensors) continue;
      const TensorSpec& spec = *open.definition.input(name);
      auto file = payload(source.path);
      if (!file) {
        out_.payloads_missing.push_back(
            fmt::format("{} (input {} at {}): {}", source.path, name, where, file.error().what));
        whole = false;
        continue;
      }
      auto header = header_of(*file, source.path);
      Status fits = header ? Status{} : Status(std::unexpected(header.error()));
      if (header) {
        auto entry = find_safetensor(*header, source.tensor_key, spec.dtype,
                                     shape_of(open.definition, spec, workload.axes), source.path);
        if (!entry) fits = std::unexpected(entry.error());
      }
      if (!fits && fits.error().what.find("payload missing") != std::string::npos)
        out_.payloads_missing.push_back(fmt::format(
            "{} (input {} at {}): a Git-LFS pointer; fetch it with `git lfs pull`", source.path, name, where));
      else if (!fits) complain(where + ": workload.inputs." + name, fits.error().what);
      whole = whole && fits.has_value();
      payloads[source.path] = *file;
    }
    if (whole)
      for (const auto& payload : payloads) open.task.payloads.push_back(payload);
    return whole;
  }

  // The file behind a path of the data set. Links may lead elsewhere inside the data set, not out of it.
  Expected<fs::path> payload(const std::string& path) {
    std::error_code code;
    if (!path.ends_with(".safetensors")) return bad_input("expected a file *.safetensors");
    const fs::path file = fs::canonical(root_ / path, code);
    if (code) return bad_input("{}", code.message());
    const fs::path inside = file.lexically_relative(root_);
    if (inside.empty() || *inside.begin() == "..") return bad_input("it leads out of the data set");
    if (!fs::is_regular_file(file, code)) return bad_input("not a file");
    return file;
  }

  static Expected<SafetensorsHeader> header_of(const fs::path& file, const std::string& name) {
    std::error_code code;
    const uint64_t size = fs::file_size(file, code);
    std::ifstream in(file, std::ios::binary);
    std::string bytes(static_cast<std::size_t>(std::min<uint64_t>(size, 64)), '\0');
    if (code || !in.read(bytes.data(), static_cast<std::streamsize>(bytes.size())))
      return machine_failed("{}: cannot be read", name);
    WHET_TRY(const uint64_t prefix, safetensors_prefix(bytes, size, name));
    bytes.resize(static_cast<std::size_t>(prefix));
    if (!in.seekg(0) || !in.read(bytes.data(), static_cast<std::streamsize>(prefix)))
      return machine_failed("{}: cannot be read", name);
    return read_safetensors_header(bytes, size, name);
  }

  void read_solution(const std::string& path) {
    auto text = text_of(path);
    auto json = text ? json_of(*text, path) : std::nullopt;
    if (!json) return;
    // Its reader names solution.json in complaints; here the file has another name.
    std::vector<std::string> complaints;
    const Solution solution = solution_from_files({{"solution.json", *text}}, "", complaints);
    for (std::string& complaint : complaints)
      out_.complaints.push_back(path +
                                complaint.substr(std::min(complaint.size(), std::string("solution.json").size())));
    if (!complaints.empty()) return;
    if (std::string why = why_not_runnable(solution); !why.empty()) {
      out_.not_runnable.push_back(fmt::format("{} ({}): {}", solution.name, path, why));
      return;
    }
    auto open = tasks_.find(solution.definitions.front());
    if (open == tasks_.end() || !is_plain_name(solution.name)) {
      complain(path, open == tasks_.end()
                         ? "there is no usable Definition " + in_quotes(solution.definitions.front())
                         : "name: expected letters, digits and . _ + = - only, found " + in_quotes(solution.name));
      return;
    }
    if (!open->second.solutions.insert(solution.name).second) {
      complain(path + ": name", in_quotes(solution.name) + " is also the name of another Solution");
      return;
    }
    const std::string below = "solutions/" + solution.name + "/";
    Json manifest = to_json(solution, solution.definitions.front());
    manifest["sources"] = Json::array();
    for (const auto& [file, contents] : solution.sources) {
      manifest["sources"].push_back(file);
      open->second.task.files[below + file] = contents;
    }
    open->second.task.files[below + "solution.json"] = manifest.dump(2) + "\n";
  }

  void finish(const std::string& name, Open& open) {
    ImportedTask& task = open.task;
    std::string lines;
    for (const Workload& workload : open.workloads) lines += to_json(workload).dump() + "\n";
    task.files["workloads/" + name + ".jsonl"] = lines;
    if (open.workloads.empty()) task.still_needed.push_back("a workload: none of the data set's could be used");
    std::vector<std::string> names(open.solutions.begin(), open.solutions.end());
    task.still_needed.push_back(
        "solutions/reference: the Definition's Python does not run here; write its C++ (whet header gives the "
        "arguments)");
    if (names.empty())
      task.still_needed.push_back("solutions/start and a baseline: the data set has no Solution with binding whet");
    task.files["task.toml"] = toml(name, open, names);
    std::sort(task.payloads.begin(), task.payloads.end());
    task.payloads.erase(std::unique(task.payloads.begin(), task.payloads.end()), task.payloads.end());
    out_.tasks.push_back(std::move(task));
  }

  static std::string toml(const std::string& name, const Open& open, const std::vector<std::string>& solutions) {
    const std::string first = solutions.empty() ? "start" : solutions.front();
    std::set<std::string> sets;
    for (const Workload& workload : open.workloads) sets.insert(workload.sets.begin(), workload.sets.end());
    sets.insert("full");
    std::string title = open.definition.description.substr(0, open.definition.description.find('\n'));
    std::replace(title.begin(), title.end(), '\x7f',
                 ' ');  // the one character that JSON's strings have and TOML's have not
    std::string text = "# Imported from a FlashInfer Trace data set.\n";
    for (const std::string& need : open.task.still_needed) text += "# Still needed: " + need + "\n";
    text +=
        fmt::format("\nname = {}\ntitle = {}\ntarget = {}\ndefinitions = [{}]\n\n", in_quotes(name),
                    in_quotes(title.empty() ? name : title), needs_gpu(open) ? "\"cuda\"" : "\"cpu\"", in_quotes(name));
    std::vector<std::string> baselines;
    for (const std::string& solution : solutions) baselines.push_back(in_quotes(solution));
    if (baselines.empty()) baselines.push_back(in_quotes("baseline"));
    text += fmt::format("reference = \"reference\"\nbaselines = [{}]\nstart = {}\neditable = [\"**\"]\n\n",
                        fmt::join(baselines, ", "), in_quotes(first));
    text += "[goal]\nmetric = \"geomean_vs_fastest\"\nvalue = 1.05\n\n[sets]\n";
    for (const std::string& set : sets)
      text +=
          fmt::format("{} = {}\n", in_quotes(set), in_quotes(set == "full" ? "all workloads of the data set" : set));
    return text;
  }

  // Only CUDA sources make it a GPU task: data sets do not say.
  static bool needs_gpu(const Open& open) {
    for (const auto& [path, contents] : open.task.files)
      if (path.ends_with(".cu")) return true;
    return false;
  }

  fs::path folder_, root_;
  std::map<std::string, Open> tasks_;
  Imported out_;
};

}  // namespace

Expected<Imported> import_flashinfer(const std::filesystem::path& folder) { return Importer(folder).run(); }

}  // namespace whet
