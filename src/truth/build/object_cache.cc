// SPDX-License-Identifier: Apache-2.0
#include "truth/build/object_cache.h"

#include <sys/stat.h>

#include <filesystem>

#include "base/hash.h"
#include "base/json_impl.h"

namespace whet {
namespace {

constexpr size_t kMaxVariants = 32;

std::string object_key(const std::string& source_key, const Ingredients& made_from, const std::string& stamp) {
  std::string text = "object\n" + source_key + "\n" + stamp + "\n";
  for (const auto& [path, hash] : made_from.headers) text += path + "\n" + hash + "\n";
  return sha256_hex(text);
}

// Entries are ours and verified by hash, so a shape that is not ours can only be of another version: no variants then.
Json variants_of(const std::optional<std::string>& text) {
  if (!text) return Json::array();
  auto json = parse_json(*text, "object cache");
  return json && json->is_array() ? *std::move(json) : Json::array();
}

bool matches(const Ingredients& made_from, const std::map<std::string, std::string>& hashes) {
  for (const auto& [path, hash] : made_from.headers) {
    const auto now = hashes.find(path);
    if (now == hashes.end() || now->second != hash) return false;
  }
  return true;
}

}  // namespace

std::optional<CachedObject> ObjectCache::load(const std::string& source_key,
                                              const std::map<std::string, std::string>& hashes) const {
  try {
    for (const Json& variant : variants_of(cache_.load(source_key))) {
      CachedObject found;
      found.made_from.headers = variant.at("headers").get<std::map<std::string, std::string>>();
      if (!matches(found.made_from, hashes)) continue;
      found.made_from.system = variant.at("system").get<std::vector<std::string>>();
      const auto stamp = variant.at("stamp").get<std::string>();
      if (system_stamp(found.made_from.system) != stamp) continue;
      auto object = cache_.load(object_key(source_key, found.made_from, stamp));
      if (!object) continue;
      found.object = *std::move(object);
      found.log = variant.at("log").get<std::string>();
      return found;
    }
  } catch (const nlohmann::json::exception&) {
    // Written by another version: as good as absent.
  }
  return std::nullopt;
}

Status ObjectCache::store(const std::string& source_key, const CachedObject& object) const {
  const std::string stamp = system_stamp(object.made_from.system);
  WHET_OK(cache_.store(object_key(source_key, object.made_from, stamp), object.object));
  Json variants = variants_of(cache_.load(source_key));
  while (variants.size() >= kMaxVariants) variants.erase(variants.begin());
  variants.push_back(Json{{"headers", object.made_from.headers},
                          {"system", object.made_from.system},
                          {"stamp", stamp},
                          {"log", object.log}});
  return cache_.store(source_key, variants.dump(-1, ' ', false, Json::error_handler_t::replace));
}

std::vector<std::string> depfile_paths(const std::string& text) {
  std::vector<std::string> paths;
  std::string path;
  bool target = true;
  auto end_path = [&] {
    if (!path.empty() && !target) paths.push_back(path);
    if (target && path.ends_with(':')) target = false;
    path.clear();
  };
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    const char next = i + 1 < text.size() ? text[i + 1] : '\0';
    if (c == '\\' && (next == ' ' || next == '#' || next == '\\')) path += next, ++i;
    else if (c == '$' && next == '$') path += '$', ++i;
    else if (c == '\\' && next == '\n') end_path(), ++i;
    else if (c == '\n') {
      end_path();
      break;  // rules of further targets (-MP) say nothing new
    } else if (c == ' ' || c == '\t') end_path();
    else path += c;
  }
  end_path();
  return paths;
}

std::optional<Ingredients> ingredients(const std::vector<std::string>& paths,
                                       const std::map<std::string, std::string>& hashes) {
  Ingredients made_from;
  for (const std::string& path : paths) {
    if (path.starts_with('/')) {
      made_from.system.push_back(path);
      continue;
    }
    const auto known = hashes.find(std::filesystem::path(path).lexically_normal().generic_string());
    if (known == hashes.end()) return std::nullopt;
    made_from.headers.insert(*known);
  }
  return made_from;
}

std::string system_stamp(const std::vector<std::string>& paths) {
  Sha256 hash;
  for (const std::string& path : paths) {
    struct stat about {};
    const bool there = ::stat(path.c_str(), &about) == 0;
    hash.update(
        fmt::format("{}\n{} {} {}.{}\n", path, there, about.st_size, about.st_mtim.tv_sec, about.st_mtim.tv_nsec));
  }
  return hash.hex();
}

}  // namespace whet
