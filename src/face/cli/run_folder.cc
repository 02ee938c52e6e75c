// SPDX-License-Identifier: Apache-2.0
#include "face/cli/run_folder.h"

#include <algorithm>
#include <cctype>
#include <ctime>
#include <filesystem>

namespace whet {
namespace {

bool allowed(char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '-'; }

}  // namespace

Expected<RunPlace> run_place(const std::string& argument, const std::string& data_folder) {
  RunPlace place;
  if (argument.find('/') != std::string::npos) {
    std::error_code error;
    std::filesystem::path path = std::filesystem::absolute(argument, error).lexically_normal();
    if (path.filename().empty()) path = path.parent_path();
    place = {path.filename().string(), path.string()};
  } else {
    place = {argument, data_folder + "/runs/" + argument};
  }
  if (place.id.empty() || place.id.size() > 64 || !std::all_of(place.id.begin(), place.id.end(), allowed))
    return bad_input("a run's name has letters, digits and '-', 64 at most; found '{}'", place.id);
  return place;
}

std::string new_run_name(const std::string& task) {
  const std::time_t now = std::time(nullptr);
  std::tm broken{};
  gmtime_r(&now, &broken);
  char stamp[32];
  std::strftime(stamp, sizeof stamp, "-%Y%m%d-%H%M%S", &broken);
  std::string name = task.substr(0, 40);
  std::replace_if(name.begin(), name.end(), [](char c) { return !allowed(c); }, '-');
  return name + stamp;
}

}  // namespace whet
