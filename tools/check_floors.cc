// SPDX-License-Identifier: Apache-2.0
// check_floors [ROOT]: reads ROOT/FLOORS and every source, and prints one line per breach of the house rules that a machine can see
// (STYLE.md gives the reasons). Exit code 0: none; 1: some; 2: FLOORS itself cannot be read. Run by ctest.
#include <algorithm>
#include <cctype>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <map>
#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <vector>

namespace fs = std::filesystem;

namespace {

constexpr int kMaxLines = 700;

struct Floor {
  int height = 0;
  int line = 0;  // in FLOORS
  std::vector<std::string> folders;
};
using Floors = std::map<std::string, Floor>;

int breaches = 0;
void breach(const std::string& file, int line, const std::string& text) {
  std::printf("%s:%d: %s\n", file.c_str(), line, text.c_str());
  ++breaches;
}

std::vector<std::string> lines_of(const fs::path& path) {
  std::ifstream in(path);
  std::vector<std::string> lines;
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

std::string joined(const std::vector<std::string>& words) {
  std::string text;
  for (const auto& word : words) text += (text.empty() ? "" : " ") + word;
  return text.empty() ? "nothing" : text;
}

// FLOORS: "HEIGHT FOLDER: folders ; libraries", # begins a comment.
Floors read_floors(const fs::path& root) {
  Floors floors;
  const std::regex form(R"((\d+)\s+([a-z_/]+):([^;]*)(;.*)?)");
  int number = 0;
  for (std::string line : lines_of(root / "FLOORS")) {
    ++number;
    line.erase(std::min(line.find('#'), line.size()));
    while (!line.empty() && std::isspace(static_cast<unsigned char>(line.back()))) line.pop_back();
    if (line.empty()) continue;
    std::smatch match;
    if (!std::regex_match(line, match, form)) {
      breach("FLOORS", number, "expected 'HEIGHT FOLDER: folders ; libraries', found '" + line + "'");
      continue;
    }
    Floor floor{std::stoi(match[1]), number, {}};
    std::istringstream words(match[3]);
    for (std::string word; words >> word;) floor.folders.push_back(word);
    if (!floors.emplace(match[2], floor).second) breach("FLOORS", number, match[2].str() + " stands here for the second time");
  }
  return floors;
}

// A folder lists only folders on lower floors, so nothing can go round in a circle.
void check_heights(const Floors& floors) {
  for (const auto& [folder, floor] : floors) {
    for (const std::string& lower : floor.folders) {
      const auto it = floors.find(lower);
      if (it == floors.end())
        breach("FLOORS", floor.line, folder + " lists " + lower + ", which has no line of its own");
      else if (it->second.height >= floor.height)
        breach("FLOORS", floor.line, folder + " (floor " + std::to_string(floor.height) + ") may not list " + lower + " (floor " +
                                         std::to_string(it->second.height) + "): only lower floors");
    }
  }
}

bool ends_with(const std::string& text, const std::string& end) {
  return text.size() >= end.size() && text.compare(text.size() - end.size(), end.size(), end) == 0;
}

// The lines with what stands in raw strings taken out: text of another file, not code of this one.
std::vector<std::string> without_raw_strings(std::vector<std::string> lines) {
  std::string end;  // of the raw string that we are in
  for (std::string& line : lines) {
    std::string kept;
    for (std::size_t at = 0; at < line.size();) {
      if (!end.empty()) {
        const auto close = line.find(end, at);
        if (close == std::string::npos) break;
        at = close + end.size();
        end.clear();
        continue;
      }
      static const std::regex begin("(^|[^A-Za-z0-9_])R\"([A-Za-z0-9_]{0,16})\\(");
      std::smatch match;
      const std::string rest = line.substr(at);
      if (!std::regex_search(rest, match, begin)) {
        kept += rest;
        break;
      }
      kept += match.prefix().str() + match[1].str();
      end = ")" + match[2].str() + "\"";
      at += static_cast<std::size_t>(match.position() + match.length());
    }
    line = kept;
  }
  return lines;
}

void check_includes(const Floors& floors, const fs::path& root, const std::string& folder, const std::string& file,
                    const std::vector<std::string>& lines) {
  const std::regex form("^\\s*#\\s*include\\s*\"([^\"]+)\"");
  const auto own = floors.find(folder);
  for (std::size_t i = 0; i < lines.size(); ++i) {
    std::smatch match;
    if (!std::regex_search(lines[i], match, form)) continue;
    const std::string included = match[1];
    const int line = static_cast<int>(i) + 1;
    const auto slash = included.rfind('/');
    if (slash == std::string::npos) {
      breach(file, line, "\"" + included + "\": write an include relative to src/, as \"" + folder + "/" + included + "\"");
      continue;
    }
    if (included == "whet/candidate.h") continue;
    const std::string other = included.substr(0, slash);
    const bool listed = std::find(own->second.folders.begin(), own->second.folders.end(), other) != own->second.folders.end();
    if (other != folder && !listed)
      breach(file, line, folder + " may not include " + other + " (FLOORS: " + joined(own->second.folders) + ")");
    else if (!fs::exists(root / "src" / included))
      breach(file, line, "\"" + included + "\" does not exist");
  }
}

// Nothing below the faces and the programs prints, reads the environment or exits: what a part does depends on its arguments only.
void check_side_doors(const std::string& file, const std::vector<std::string>& lines) {
  const std::regex door(R"((^|[^A-Za-z0-9_])(std::cout|std::cerr|std::clog|(printf|fprintf|puts|fputs|getenv|secure_getenv|exit|quick_exit|fmt::print)\s*\())");
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const std::string code = lines[i].substr(0, lines[i].find("//"));
    std::smatch match;
    if (std::regex_search(code, match, door))
      breach(file, static_cast<int>(i) + 1, "only src/face and main.cc print, read the environment or exit; found '" + match[2].str() + "'");
  }
}

void check_name(const std::string& file, const fs::path& path) {
  static const std::set<std::string> empty_words = {"util", "utils", "common", "helper", "helpers", "misc", "manager", "stuff"};
  const std::string stem = path.stem().string();
  std::istringstream words(stem);
  for (std::string word; std::getline(words, word, '_');)
    if (empty_words.count(word)) breach(file, 1, "'" + word + "' says nothing: name the file after what is in it");
  if (!std::all_of(stem.begin(), stem.end(), [](unsigned char c) { return std::islower(c) || std::isdigit(c) || c == '_'; }))
    breach(file, 1, "file names are snake_case");
}

void check_licence(const std::string& file, const std::vector<std::string>& lines) {
  const std::size_t at = !lines.empty() && lines[0].compare(0, 2, "#!") == 0 ? 1 : 0;
  if (at >= lines.size() || lines[at].find("SPDX-License-Identifier: Apache-2.0") == std::string::npos)
    breach(file, static_cast<int>(at) + 1, "the first line must hold 'SPDX-License-Identifier: Apache-2.0'");
}

// x_test.cc stands beside x.cc or x.h; or it is about its whole folder and named after it; or it is a part of tests, with a header x_test.h.
void check_test(const std::string& file, const fs::path& path) {
  const std::string source = path.string().substr(0, path.string().size() - 8);
  const std::string name = fs::path(source).filename().string();
  if (name == path.parent_path().filename() || fs::exists(source + ".cc") || fs::exists(source + ".h") || fs::exists(source + "_test.h")) return;
  breach(file, 1, "a test stands beside its source, and there is neither " + name + ".cc nor .h");
}

void check_source(const Floors& floors, const fs::path& root, const fs::path& path) {
  const std::string file = fs::relative(path, root).generic_string();
  const std::string folder = fs::relative(path.parent_path(), root / "src").generic_string();
  const std::vector<std::string> lines = lines_of(path);
  if (!floors.count(folder)) {
    breach(file, 1, "the folder " + folder + " has no line in FLOORS");
    return;
  }
  const std::vector<std::string> code = without_raw_strings(lines);
  check_includes(floors, root, folder, file, code);
  const bool test = ends_with(file, "_test.cc");
  const bool program = path.filename() == "main.cc" || ends_with(file, "_main.cc");
  const bool outside = folder.compare(0, 4, "face") == 0 || program || test || ends_with(file, "_fuzz.cc");
  if (!outside) check_side_doors(file, code);
  if (test) check_test(file, path);
  if (ends_with(file, ".h") && std::find(lines.begin(), lines.end(), "#pragma once") == lines.end()) breach(file, 1, "a header needs #pragma once");
}

bool is_code(const fs::path& path) {
  static const std::set<std::string> endings = {".cc", ".h", ".cu", ".cuh", ".c"};
  return endings.count(path.extension().string()) > 0;
}

}  // namespace

int main(int argc, char** argv) {
  const fs::path root = argc > 1 ? argv[1] : ".";
  if (!fs::exists(root / "FLOORS")) {
    std::fprintf(stderr, "check_floors: there is no FLOORS in %s\n", root.string().c_str());
    return 2;
  }
  const Floors floors = read_floors(root);
  check_heights(floors);
  int files = 0;
  for (const char* part : {"src", "include", "tools", "tests", "fuzz", "bench", "tasks"}) {
    if (!fs::exists(root / part)) continue;
    std::vector<fs::path> paths;
    for (const auto& entry : fs::recursive_directory_iterator(root / part))
      if (entry.is_regular_file() && is_code(entry.path())) paths.push_back(entry.path());
    std::sort(paths.begin(), paths.end());
    for (const fs::path& path : paths) {
      const std::string file = fs::relative(path, root).generic_string();
      const std::vector<std::string> lines = lines_of(path);
      check_licence(file, lines);
      check_name(file, path);
      if (static_cast<int>(lines.size()) > kMaxLines)
        breach(file, kMaxLines + 1, "longer than " + std::to_string(kMaxLines) + " lines: split it");
      if (std::string(part) == "src") check_source(floors, root, path);
      ++files;
    }
  }
  if (breaches == 0) std::printf("check_floors: %d files keep the rules\n", files);
  return breaches == 0 ? 0 : 1;
}
