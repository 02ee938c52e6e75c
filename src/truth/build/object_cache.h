// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/error.h"
#include "truth/build/cache.h"

namespace whet {

// What an object was made from, as the compiler's depfile names it.
struct Ingredients {
  std::map<std::string, std::string> headers;  // of the Solution (and the ABI's): path -> sha256
  std::vector<std::string> system;             // absolute paths of other headers
};

struct CachedObject {
  std::string object;  // contents
  std::string log;     // the warnings of the call that made it
  Ingredients made_from;
};

// Objects by content. The headers that a source needs are known only after it has been compiled, so an entry is found in two steps: a list of
// variants under the hash of what is known before (compiler, flags, source, names of all files), then the variant all of whose headers have
// the contents that it was made from.
class ObjectCache {
 public:
  explicit ObjectCache(const BuildCache& cache) : cache_(cache) {}

  // `hashes`: sha256 of each file that a source can include, by the name that a depfile gives it.
  std::optional<CachedObject> load(const std::string& source_key,
                                   const std::map<std::string, std::string>& hashes) const;
  Status store(const std::string& source_key, const CachedObject& object) const;

 private:
  const BuildCache& cache_;
};

// The prerequisites in a make rule as compilers write it. Backslash-newline goes on, backslash-space is a space, $$ is $.
std::vector<std::string> depfile_paths(const std::string& text);

// Sorts a depfile's paths into files that we gave and system headers; nothing when it names a file that is neither.
std::optional<Ingredients> ingredients(const std::vector<std::string>& paths,
                                       const std::map<std::string, std::string>& hashes);

// One hash over paths, sizes and times: changes when a package is upgraded.
std::string system_stamp(const std::vector<std::string>& paths);

}  // namespace whet
