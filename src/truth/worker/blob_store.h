// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>

#include "base/error.h"
#include "record/request.h"

namespace whet {

// File contents by their SHA-256, as the client sent them. In memory: a session's tasks and Solutions are small, and the worker leaves nothing
// behind. What was never complete or does not have its hash is not kept.
class BlobStore {
 public:
  bool has(const std::string& hash) const { return blobs_.count(hash) != 0; }
  Status put(const std::string& hash, std::string piece, bool last);
  // The files that a manifest names; the error names the first that is missing.
  Expected<std::map<std::string, std::string>> files(const Manifest& manifest) const;

 private:
  std::map<std::string, std::string> blobs_;
  std::map<std::string, std::string> arriving_;
  uint64_t bytes_ = 0;
};

constexpr uint64_t kMostBlobBytes = uint64_t{1} << 30;

}  // namespace whet
