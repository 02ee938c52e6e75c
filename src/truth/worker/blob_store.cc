// SPDX-License-Identifier: Apache-2.0
#include "truth/worker/blob_store.h"

#include "base/hash.h"

namespace whet {

Status BlobStore::put(const std::string& hash, std::string piece, bool last) {
  std::string& arriving = arriving_[hash];
  if (bytes_ + arriving.size() + piece.size() > kMostBlobBytes) {
    arriving_.erase(hash);
    return bad_input("blob.put {}: this session's blobs would exceed {} MiB", hash, kMostBlobBytes >> 20);
  }
  arriving += piece;
  if (!last) return {};
  std::string whole = std::move(arriving);
  arriving_.erase(hash);
  if (const std::string found = sha256_hex(whole); found != hash) return bad_input("blob.put: the contents have the hash {}, not {}", found, hash);
  bytes_ += whole.size();
  blobs_[hash] = std::move(whole);
  return {};
}

Expected<std::map<std::string, std::string>> BlobStore::files(const Manifest& manifest) const {
  std::map<std::string, std::string> files;
  for (const auto& [path, hash] : manifest) {
    const auto blob = blobs_.find(hash);
    if (blob == blobs_.end()) return bad_input("{}: the blob {} is not here; send it with blob.put first", path, hash);
    files[path] = blob->second;
  }
  return files;
}

}  // namespace whet
