// SPDX-License-Identifier: Apache-2.0
#include "face/cli/json_output.h"

#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>

#include "base/file.h"
#include "face/cli/context.h"

namespace whet {

Expected<JsonOutput> JsonOutput::open(const std::string& file, std::string flag) {
  JsonOutput output;
  output.file_ = file;
  output.flag_ = flag;
  if (file.empty() || file == "-") return output;
  std::error_code error;
  if (std::filesystem::is_directory(file, error)) return bad_input("{} {}: expected a file, found a folder", flag, file);
  std::filesystem::path folder = std::filesystem::path(file).parent_path();
  if (folder.empty()) folder = ".";
  if (!std::filesystem::is_directory(folder, error)) return bad_input("{} {}: there is no folder {}", flag, file, folder.string());
  if (access(folder.c_str(), W_OK) != 0) return bad_input("{} {}: cannot write into {}: {}", flag, file, folder.string(), std::strerror(errno));
  return output;
}

Status JsonOutput::write(const std::string& text) const { return write_as_is(text + "\n"); }

Status JsonOutput::write_as_is(const std::string& text) const {
  if (!wanted()) return {};
  if (to_stdout()) {
    print(text);
    return {};
  }
  if (Status written = write_file_atomically(file_, text); !written) return std::unexpected(written.error().in(flag_));
  return {};
}

}  // namespace whet
