// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "record/dtype.h"

namespace whet {

struct SafetensorsEntry {
  std::string dtype;  // the format's token: "BF16"
  std::vector<int64_t> shape;
  uint64_t begin = 0, end = 0;  // bytes from the start of the data
};

struct SafetensorsHeader {
  std::map<std::string, SafetensorsEntry> tensors;
  std::map<std::string, std::string> metadata;
  uint64_t data_offset = 0;  // bytes from the start of the file
};

// A file that Git-LFS left as a pointer to its payload.
bool is_lfs_pointer(std::string_view bytes);

inline constexpr uint64_t kMaxSafetensorsHeader = uint64_t{100} << 20;  // the format's own bound
// 8 + the header's length, from a file's first 8 bytes; an error when the file of `file_bytes` cannot hold it. `where` names the file.
Expected<uint64_t> safetensors_prefix(std::string_view first_bytes, uint64_t file_bytes, const std::string& where);

// Reads the header of a file of `file_bytes`, of which `bytes` holds at least the prefix. The tensors must lie in the data without holes or
// overlaps, and each must be as long as its shape and dtype say.
Expected<SafetensorsHeader> read_safetensors_header(std::string_view bytes, uint64_t file_bytes,
                                                    const std::string& where);

// The entry `key`, whose dtype and shape must be exactly these.
Expected<SafetensorsEntry> find_safetensor(const SafetensorsHeader& header, const std::string& key, Dtype dtype,
                                           const std::vector<int64_t>& shape, const std::string& where);

// The little-endian, row-major elements of that tensor in a whole file; they live as long as `file`.
Expected<std::string_view> load_safetensor(std::string_view file, const std::string& key, Dtype dtype,
                                           const std::vector<int64_t>& shape, const std::string& where);

struct NamedTensor {
  std::string name;
  Dtype dtype = Dtype::float32;
  std::vector<int64_t> shape;
  std::string_view bytes;  // little-endian, row-major
};
// A whole file with these tensors, the data aligned to 8 bytes.
std::string write_safetensors(const std::vector<NamedTensor>& tensors);

}  // namespace whet
