// SPDX-License-Identifier: Apache-2.0
#include "face/cli/task_source.h"

#include <algorithm>
#include <filesystem>
#include <set>

#include "base/file.h"
#include "face/cli/suggest.h"

namespace whet {
namespace {

namespace fs = std::filesystem;

bool is_folder(const fs::path& path) {
  std::error_code error;
  return fs::is_directory(path, error);
}
bool is_file(const fs::path& path) {
  std::error_code error;
  return fs::is_regular_file(path, error);
}

std::string base_name(std::string path) {
  while (path.size() > 1 && path.back() == '/') path.pop_back();
  const std::string name = fs::path(path).filename().string();
  return name == "." || name == ".." || name.empty() ? fs::weakly_canonical(path).filename().string() : name;
}

Expected<TaskSource> read_task_folder(const std::string& folder) {
  WHET_TRY(auto files, read_tree(folder));
  return TaskSource{folder, folder, std::move(files)};
}

std::vector<std::string> names_of(const std::vector<TaskName>& tasks) {
  std::vector<std::string> names;
  for (const TaskName& task : tasks) names.push_back(task.name);
  return names;
}

}  // namespace

std::vector<TaskName> task_names(const std::string& data_folder, const Context& context) {
  std::map<std::string, std::string> found;
  for (const EmbeddedFile& file : context.shipped_tasks)
    if (const auto slash = file.path.find('/'); slash != std::string_view::npos) found[std::string(file.path.substr(0, slash))] = "shipped";
  std::error_code error;
  for (fs::directory_iterator it(fs::path(data_folder) / "tasks", error), end; !error && it != end; it.increment(error))
    if (is_file(it->path() / "task.toml")) found[it->path().filename().string()] = it->path().string();
  std::vector<TaskName> names;
  for (const auto& [name, origin] : found) names.push_back({name, origin});
  return names;
}

Expected<TaskSource> find_task(const std::string& argument, const std::string& data_folder, const Context& context) {
  const bool like_a_path = argument.find('/') != std::string::npos || argument == "." || argument == "..";
  if (is_file(fs::path(argument) / "task.toml")) return read_task_folder(argument);
  if (is_file(argument)) {
    if (fs::path(argument).filename() == "task.toml") return bad_input("{}: name the task's folder, not its task.toml", argument);
    return bad_input("{}: expected a task's folder, found a file", argument);
  }
  if (like_a_path) {
    if (!is_folder(argument)) return bad_input("{}: there is no such folder", argument);
    return bad_input("{}: there is no task.toml in this folder, so it is not a task; 'whet task new NAME' makes one", argument);
  }
  if (const fs::path overlay = fs::path(data_folder) / "tasks" / argument; is_file(overlay / "task.toml")) return read_task_folder(overlay.string());
  TaskSource shipped{argument + " (shipped)", "", {}};
  const std::string prefix = argument + "/";
  for (const EmbeddedFile& file : context.shipped_tasks)
    if (file.path.starts_with(prefix)) shipped.files[std::string(file.path.substr(prefix.size()))] = std::string(file.contents);
  if (!shipped.files.empty()) return shipped;
  const std::vector<std::string> names = names_of(task_names(data_folder, context));
  if (is_folder(argument)) return bad_input("{}: there is no task.toml in this folder, and no task of that name; known are {}", argument, listed(names));
  return bad_input("there is no task '{}'{}; known are {}", argument, did_you_mean(argument, names), listed(names));
}

Expected<SolutionSource> find_solution(const std::string& argument, const TaskSource& task) {
  std::set<std::string> names;
  for (const auto& [path, contents] : task.files) {
    if (!path.starts_with("solutions/")) continue;
    const auto slash = path.find('/', 10);
    if (slash != std::string::npos) names.insert(path.substr(10, slash - 10));
  }
  if (is_file(fs::path(argument) / "solution.json")) {
    WHET_TRY(auto files, read_tree(argument));
    return SolutionSource{base_name(argument), std::move(files)};
  }
  if (names.contains(argument)) return SolutionSource{argument, {}};
  const std::vector<std::string> known(names.begin(), names.end());
  if (is_folder(argument)) return bad_input("{}: there is no solution.json in this folder, so it is not a Solution", argument);
  if (is_file(argument)) return bad_input("{}: expected a Solution's folder, found a file", argument);
  if (argument.find('/') != std::string::npos) return bad_input("{}: there is no such folder", argument);
  return bad_input("the task has no Solution '{}', and there is no such folder{}; it has {}", argument, did_you_mean(argument, known), listed(known));
}

}  // namespace whet
