// SPDX-License-Identifier: Apache-2.0
#include "truth/build/python.h"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <optional>

#include <fmt/ranges.h>

#include "base/file.h"
#include "base/json_impl.h"
#include "base/process.h"

namespace whet {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

namespace {

constexpr std::chrono::seconds kAnswerLimit{30};

constexpr const char* kQuestion = R"(import ctypes, json, os, sys
print(json.dumps({"executable": os.path.realpath(sys.executable), "version": "%d.%d.%d" % sys.version_info[:3], "new": sys.version_info >= (3, 8),
                  "path": [os.path.abspath(folder) for folder in sys.path if folder and os.path.exists(folder)],
                  "prefixes": [sys.prefix, sys.base_prefix, sys.exec_prefix, sys.base_exec_prefix]}))
)";

constexpr const char* kWhichAreMissing = R"(import importlib.util, sys
print(" ".join(name for name in sys.argv[1:] if importlib.util.find_spec(name) is None))
)";

// -s: not what the user has installed for himself, whose home is not in the jail.
Expected<ProcessResult> ask(const std::string& python, const char* program, const std::vector<std::string>& words, std::optional<std::map<std::string, std::string>> environment = {}) {
  ProcessSpec spec;
  spec.argv = {python, "-s", "-c", program};
  spec.argv.insert(spec.argv.end(), words.begin(), words.end());
  spec.environment = std::move(environment);
  spec.working_directory = "/";
  spec.deadline = kAnswerLimit;
  return run_process(spec);
}

bool is_below(const std::string& path, const std::string& folder) { return path == folder || path.starts_with(folder + "/"); }

// A jail sees these anyway.
bool is_of_system(const std::string& path) {
  return std::ranges::any_of(std::vector<std::string>{"/usr", "/lib", "/lib64", "/bin", "/sbin"}, [&](const std::string& folder) { return is_below(path, folder); });
}

// Folders only, and none below another: what is bound twice would hide what is bound below it.
std::vector<std::string> outermost(std::vector<std::string> folders) {
  std::error_code error;
  std::ranges::sort(folders);
  std::vector<std::string> kept;
  for (const std::string& folder : folders)
    if (folder != "/" && fs::is_directory(folder, error) && !is_of_system(folder) && (kept.empty() || !is_below(folder, kept.back()))) kept.push_back(folder);
  return kept;
}

Expected<Python> describe(const std::string& candidate) {
  WHET_TRY(const ProcessResult result, ask(candidate, kQuestion, {}));
  if (!result.ok()) return machine_failed("{}", result.describe({candidate}));
  WHET_TRY(const Json facts, parse_json(result.out, candidate));
  try {
    if (!facts.at("new").get<bool>()) return machine_failed("{} is Python {}; expected 3.8 or later", candidate, facts.at("version").get<std::string>());
    Python python;
    python.executable = facts.at("executable").get<std::string>();
    python.version = facts.at("version").get<std::string>();
    python.path = facts.at("path").get<std::vector<std::string>>();
    auto folders = facts.at("prefixes").get<std::vector<std::string>>();
    folders.insert(folders.end(), python.path.begin(), python.path.end());
    for (std::string& folder : folders) folder = fs::path(folder).lexically_normal().string();
    python.folders = outermost(std::move(folders));
    return python;
  } catch (const nlohmann::json::exception& error) {
    return machine_failed("{} says of itself what cannot be read: {}", candidate, error.what());
  }
}

Status check_dependencies(const Solution& solution, const Python& python, BuildOutcome& outcome) {
  if (solution.dependencies.empty()) return {};
  // As the jail will see it.
  const std::map<std::string, std::string> environment = {{"PATH", "/usr/bin:/bin"}, {"PYTHONPATH", fmt::format("{}", fmt::join(python.path, ":"))}};
  WHET_TRY(const ProcessResult result, ask(python.executable, kWhichAreMissing, solution.dependencies, environment));
  const std::string missing = result.out.substr(0, result.out.find('\n'));
  if (!result.ok()) outcome.verdict = {Code::dependency_missing, "its dependencies cannot be looked for: " + result.describe({python.executable}), ""};
  else if (!missing.empty()) outcome.verdict = {Code::dependency_missing, fmt::format("{} (Python {}) has no module {}; install it, or put the python3 that has it first in PATH", python.executable, python.version, missing), ""};
  return {};
}

// As it is in memory: what lies in the cache under this name is not believed without a look.
Expected<fs::path> place(const std::map<std::string, std::string>& files, const std::string& hash, const fs::path& cache_folder) {
  const fs::path parent = cache_folder / "python", folder = parent / hash;
  WHET_OK(make_folders(parent));
  if (auto found = read_tree(folder); found && *found == files) return folder;
  std::error_code error;
  fs::remove_all(folder, error);
  WHET_TRY(auto work, TemporaryDirectory::make("placing", parent));
  WHET_OK(write_tree(work.path() / "tree", files));
  fs::rename(work.path() / "tree", folder, error);
  // Another worker may have been first.
  if (auto found = read_tree(folder); found && *found == files) return folder;
  return machine_failed("{}: the Solution cannot be put there: {}", folder.string(), error.message());
}

}  // namespace

Python find_python(const std::vector<std::string>& search) {
  std::vector<std::string> folders = search;
  folders.insert(folders.end(), {"/usr/local/bin", "/usr/bin"});
  Python none;
  none.missing = "there is no python3 in PATH, /usr/local/bin or /usr/bin";
  std::string first_problem;
  for (const std::string& folder : folders) {
    const std::string candidate = folder + "/python3";
    if (!folder.starts_with('/') || access(candidate.c_str(), X_OK) != 0) continue;
    if (auto python = describe(candidate)) return *std::move(python);
    else if (first_problem.empty()) first_problem = python.error().what;
  }
  if (!first_problem.empty()) none.missing = "no python3 can be used: " + first_problem;
  return none;
}

Expected<BuildOutcome> place_python(const Solution& solution, const Python& python, const fs::path& cache_folder) {
  const auto begin = Clock::now();
  BuildOutcome outcome;
  outcome.compiler = "Python " + python.version;
  outcome.verdict = {Code::correct, "", ""};
  if (!python.usable()) outcome.verdict = {Code::language_unsupported, "it is in " + solution.language + "; " + python.missing, ""};
  if (outcome.ok()) WHET_OK(check_dependencies(solution, python, outcome));
  if (!outcome.ok()) return outcome;
  const Json entry = {{"entry_point", solution.entry_point}, {"destination_passing_style", solution.destination_passing}, {"dependencies", solution.dependencies}};
  std::map<std::string, std::string> files = {{"entry.json", entry.dump(1)}};
  for (const auto& [path, contents] : solution.sources) files["source/" + path] = contents;
  outcome.artifact_sha256 = solution_hash(solution);
  WHET_TRY(outcome.artifact, place(files, outcome.artifact_sha256, cache_folder));
  outcome.seconds = std::chrono::duration<double>(Clock::now() - begin).count();
  return outcome;
}

}  // namespace whet
