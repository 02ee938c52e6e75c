// SPDX-License-Identifier: Apache-2.0
#include "base/demangle.h"

#include <cxxabi.h>

#include <cstdlib>
#include <memory>

namespace whet {

std::string demangled(const std::string& symbol) {
  // The length bounds what the library's recursion takes.
  if (!symbol.starts_with("_Z") || symbol.size() > 4096) return symbol;
  int status = 0;
  const std::unique_ptr<char, decltype(&std::free)> name(abi::__cxa_demangle(symbol.c_str(), nullptr, nullptr, &status), &std::free);
  return status == 0 && name ? std::string(name.get()) : symbol;
}

}  // namespace whet
