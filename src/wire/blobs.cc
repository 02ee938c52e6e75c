// SPDX-License-Identifier: Apache-2.0
#include "wire/blobs.h"

#include <array>

#include "base/json_impl.h"
#include "wire/client.h"

namespace whet {
namespace {

constexpr std::string_view kDigits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
// A multiple of 3, so that only the last piece is padded.
constexpr std::size_t kPiece = 3 << 19;

constexpr std::array<int8_t, 256> reverse_digits() {
  std::array<int8_t, 256> values{};
  values.fill(-1);
  for (std::size_t i = 0; i < kDigits.size(); ++i) values[static_cast<uint8_t>(kDigits[i])] = static_cast<int8_t>(i);
  return values;
}

Status put_blob(WorkerClient& worker, const std::string& hash, std::string_view contents) {
  do {
    std::string_view piece = contents.substr(0, kPiece);
    contents.remove_prefix(piece.size());
    WHET_OK(worker.call("blob.put", {{"hash", hash}, {"base64", to_base64(piece)}, {"last", contents.empty()}}));
  } while (!contents.empty());
  return {};
}

}  // namespace

std::string to_base64(std::string_view bytes) {
  std::string text;
  text.reserve((bytes.size() + 2) / 3 * 4);
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    std::size_t have = std::min<std::size_t>(3, bytes.size() - i);
    uint32_t group = 0;
    for (std::size_t j = 0; j < 3; ++j) group = group << 8 | (j < have ? static_cast<uint8_t>(bytes[i + j]) : 0u);
    for (std::size_t j = 0; j < 4; ++j) text += j <= have ? kDigits[group >> (18 - 6 * j) & 63] : '=';
  }
  return text;
}

Expected<std::string> from_base64(std::string_view text) {
  static constexpr auto kValues = reverse_digits();
  if (text.size() % 4) return bad_input("base64: expected a multiple of 4 characters, found {}", text.size());
  std::size_t padding = text.ends_with("==") ? 2 : text.ends_with("=") ? 1 : 0;
  std::string bytes;
  bytes.reserve(text.size() / 4 * 3);
  for (std::size_t i = 0; i < text.size(); i += 4) {
    uint32_t group = 0;
    std::size_t pad = i + 4 == text.size() ? padding : 0;
    for (std::size_t j = 0; j < 4; ++j) {
      int value = j < 4 - pad ? kValues[static_cast<uint8_t>(text[i + j])] : 0;
      if (value < 0) return bad_input("base64: character {} is none of its 64", i + j);
      group = group << 6 | static_cast<uint32_t>(value);
    }
    for (std::size_t j = 0; j < 3 - pad; ++j) bytes += static_cast<char>(group >> (16 - 8 * j) & 255);
    if (pad && group & (pad == 1 ? 0xffu : 0xffffu)) return bad_input("base64: the last group has bits beyond its bytes");
  }
  return bytes;
}

Status WorkerClient::put_blobs(const std::map<std::string, std::string>& blobs) {
  if (blobs.empty()) return {};
  Json hashes = Json::array();
  for (const auto& [hash, contents] : blobs) hashes.push_back(hash);
  WHET_TRY(Json answer, call("blob.have", {{"hashes", std::move(hashes)}}));
  if (!answer.is_object() || !answer.contains("missing") || !answer["missing"].is_array())
    return machine_failed("the worker's answer to blob.have has no list `missing`: {}", brief(answer));
  for (const Json& hash : answer["missing"]) {
    auto blob = hash.is_string() ? blobs.find(hash.get_ref<const std::string&>()) : blobs.end();
    if (blob == blobs.end()) return machine_failed("the worker misses {}, for which it was not asked", brief(hash));
    WHET_OK(put_blob(*this, blob->first, blob->second));
  }
  return {};
}

}  // namespace whet
