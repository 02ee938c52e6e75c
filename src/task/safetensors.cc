// SPDX-License-Identifier: Apache-2.0
#include "task/safetensors.h"

#include <algorithm>
#include <array>

#include "base/json_impl.h"

namespace whet {
namespace {

struct Row {
  std::string_view token;
  int64_t bytes;
  std::vector<Dtype> dtypes;  // what a Definition may call it
};
const std::array<Row, 16>& rows() {
  static const std::array<Row, 16> kRows = {
      {{"F64", 8, {Dtype::float64}},
       {"F32", 4, {Dtype::float32}},
       {"F16", 2, {Dtype::float16}},
       {"BF16", 2, {Dtype::bfloat16}},
       {"F8_E4M3", 1, {Dtype::float8_e4m3fn}},
       {"F8_E5M2", 1, {Dtype::float8_e5m2}},
       {"I64", 8, {Dtype::int64}},
       {"I32", 4, {Dtype::int32}},
       {"I16", 2, {Dtype::int16}},
       {"I8", 1, {Dtype::int8}},
       {"BOOL", 1, {Dtype::boolean}},
       {"U8", 1, {Dtype::float4_e2m1}},  // packed pairs are usually stored as bytes
       {"U16", 2, {}},
       {"U32", 4, {}},
       {"U64", 8, {}},
       {"F8_E8M0", 1, {}}}};
  return kRows;
}

const Row* row_of(std::string_view token) {
  auto it = std::find_if(rows().begin(), rows().end(), [&](const Row& row) { return row.token == token; });
  return it == rows().end() ? nullptr : &*it;
}

std::string_view token_of(Dtype dtype) {
  for (const Row& row : rows())
    if (std::find(row.dtypes.begin(), row.dtypes.end(), dtype) != row.dtypes.end()) return row.token;
  return "U8";
}

std::string text_of(const std::vector<int64_t>& shape) { return fmt::format("[{}]", fmt::join(shape, ", ")); }

uint64_t little_endian(std::string_view bytes) {
  uint64_t value = 0;
  for (int i = 7; i >= 0; --i) value = value << 8 | static_cast<unsigned char>(bytes[static_cast<std::size_t>(i)]);
  return value;
}

SafetensorsEntry read_entry(const std::string& name, const Json& json, const std::string& where, uint64_t data_bytes,
                            std::vector<std::string>& complaints) {
  SafetensorsEntry entry;
  JsonReader in(json, where, name, complaints);
  if (!json.is_object()) return entry;
  entry.dtype = in.string("dtype");
  for (const Json& extent : in.array("shape")) {
    if (extent.is_number_integer() && extent.get<int64_t>() >= 0) entry.shape.push_back(extent.get<int64_t>());
    else in.complain("shape", "expected integers >= 0, found " + brief(extent));
  }
  const Json& offsets = in.array("data_offsets");
  const auto is_offset = [](const Json& value) { return value.is_number_integer() && value.get<int64_t>() >= 0; };
  if (offsets.size() != 2 || !is_offset(offsets[0]) || !is_offset(offsets[1]) ||
      offsets[0].get<int64_t>() > offsets[1].get<int64_t>()) {
    if (in.has("data_offsets"))
      in.complain("data_offsets", "expected [begin, end] with 0 <= begin <= end, found " + brief(offsets));
    return entry;
  }
  entry.begin = static_cast<uint64_t>(offsets[0].get<int64_t>());
  entry.end = static_cast<uint64_t>(offsets[1].get<int64_t>());
  if (entry.end > data_bytes)
    in.complain("data_offsets",
                fmt::format("the tensor ends at {}, but the file has only {} bytes of data", entry.end, data_bytes));
  const Row* row = row_of(entry.dtype);
  if (!row) return entry;  // a dtype that we do not know is only an error for who asks for the tensor
  int64_t bytes = row->bytes;
  bool over = false;
  for (int64_t extent : entry.shape) over = over || __builtin_mul_overflow(bytes, extent, &bytes);
  if (over || static_cast<uint64_t>(bytes) != entry.end - entry.begin)
    in.complain("data_offsets",
                fmt::format("{} bytes do not hold {} {}", entry.end - entry.begin, text_of(entry.shape), entry.dtype));
  return entry;
}

void check_layout(const SafetensorsHeader& header, uint64_t data_bytes, const std::string& where,
                  std::vector<std::string>& complaints) {
  std::vector<const SafetensorsEntry*> order;
  for (const auto& [name, entry] : header.tensors) order.push_back(&entry);
  std::sort(order.begin(), order.end(),
            [](auto* a, auto* b) { return std::pair(a->begin, a->end) < std::pair(b->begin, b->end); });
  uint64_t at = 0;
  for (const SafetensorsEntry* entry : order) {
    if (entry->begin != at) {
      complaints.push_back(fmt::format("{}: the data has {} at byte {}", where,
                                       entry->begin < at ? "overlapping tensors" : "a hole",
                                       std::min(at, entry->begin)));
      return;
    }
    at = entry->end;
  }
  if (at != data_bytes)
    complaints.push_back(
        fmt::format("{}: expected {} bytes of data after the header, found {}", where, at, data_bytes));
}

}  // namespace

bool is_lfs_pointer(std::string_view bytes) { return bytes.starts_with("version https://git-lfs.github.com/spec/v1"); }

Expected<uint64_t> safetensors_prefix(std::string_view first_bytes, uint64_t file_bytes, const std::string& where) {
  if (is_lfs_pointer(first_bytes))
    return bad_input("{}: payload missing: this is a Git-LFS pointer; fetch it with `git lfs pull`", where);
  if (first_bytes.size() < 8)
    return bad_input("{}: not a safetensors file: expected a length of 8 bytes at the start, found a file of {} bytes",
                     where, file_bytes);
  const uint64_t length = little_endian(first_bytes);
  if (length > kMaxSafetensorsHeader)
    return bad_input("{}: not a safetensors file: a header of {} bytes is beyond {} MiB", where, length,
                     kMaxSafetensorsHeader >> 20);
  if (length + 8 > file_bytes)
    return bad_input("{}: the header says {} bytes, but the file has only {}", where, length, file_bytes);
  return length + 8;
}

Expected<SafetensorsHeader> read_safetensors_header(std::string_view bytes, uint64_t file_bytes,
                                                    const std::string& where) {
  WHET_TRY(const uint64_t prefix, safetensors_prefix(bytes, file_bytes, where));
  if (bytes.size() < prefix) return bad_input("{}: the header is cut off", where);
  WHET_TRY(const Json json, parse_json(bytes.substr(8, prefix - 8), where + " (header)"));
  if (!json.is_object()) return bad_input("{}: the header must be a JSON object, found {}", where, brief(json));
  SafetensorsHeader header;
  header.data_offset = prefix;
  std::vector<std::string> complaints;
  for (const auto& [name, value] : json.items()) {
    if (name != "__metadata__") {
      header.tensors[name] = read_entry(name, value, where, file_bytes - prefix, complaints);
      continue;
    }
    for (const auto& [key, text] : value.items()) {
      if (text.is_string()) header.metadata[key] = text.get<std::string>();
      else
        complaints.push_back(fmt::format("{}: __metadata__.{}: expected a string, found {}", where, key, brief(text)));
    }
  }
  if (complaints.empty()) check_layout(header, file_bytes - prefix, where, complaints);
  if (!complaints.empty()) return bad_input("{}", fmt::join(complaints, "\n"));
  return header;
}

Expected<SafetensorsEntry> find_safetensor(const SafetensorsHeader& header, const std::string& key, Dtype dtype,
                                           const std::vector<int64_t>& shape, const std::string& where) {
  auto found = header.tensors.find(key);
  if (found == header.tensors.end()) {
    std::vector<std::string> names;
    for (const auto& [name, entry] : header.tensors) names.push_back(name);
    return bad_input("{}: there is no tensor \"{}\"; it has {}", where, key,
                     names.empty() ? "none" : fmt::format("{}", fmt::join(names, ", ")));
  }
  const SafetensorsEntry& entry = found->second;
  const Row* row = row_of(entry.dtype);
  const bool same_dtype = row && std::find(row->dtypes.begin(), row->dtypes.end(), dtype) != row->dtypes.end();
  if (!same_dtype || entry.shape != shape)
    return bad_input("{}: tensor \"{}\": expected {} {}, found {} {}", where, key, token_of(dtype), text_of(shape),
                     entry.dtype, text_of(entry.shape));
  return entry;
}

Expected<std::string_view> load_safetensor(std::string_view file, const std::string& key, Dtype dtype,
                                           const std::vector<int64_t>& shape, const std::string& where) {
  WHET_TRY(const SafetensorsHeader header, read_safetensors_header(file, file.size(), where));
  WHET_TRY(const SafetensorsEntry entry, find_safetensor(header, key, dtype, shape, where));
  return file.substr(header.data_offset + entry.begin, entry.end - entry.begin);
}

std::string write_safetensors(const std::vector<NamedTensor>& tensors) {
  Json json = Json::object();
  uint64_t at = 0;
  for (const NamedTensor& tensor : tensors) {
    json[tensor.name] = {
        {"dtype", token_of(tensor.dtype)}, {"shape", tensor.shape}, {"data_offsets", {at, at + tensor.bytes.size()}}};
    at += tensor.bytes.size();
  }
  std::string header = json.dump();
  header.resize((header.size() + 7) / 8 * 8, ' ');
  std::string file;
  for (int i = 0; i < 8; ++i) file += static_cast<char>(header.size() >> (8 * i));
  file += header;
  for (const NamedTensor& tensor : tensors) file += tensor.bytes;
  return file;
}

}  // namespace whet
