// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstdlib>

#include "truth/profile/sass.h"

namespace whet {
namespace {

using Counts = std::map<std::string, int64_t>;

std::vector<CountChange> changes(const Counts& before, const Counts& after) {
  std::vector<CountChange> all;
  for (const auto& [what, count] : before) {
    const auto other = after.find(what);
    const int64_t now = other == after.end() ? 0 : other->second;
    if (now != count) all.push_back({what, count, now});
  }
  for (const auto& [what, count] : after)
    if (!before.count(what)) all.push_back({what, 0, count});
  std::sort(all.begin(), all.end(), [](const CountChange& a, const CountChange& b) {
    const int64_t more = std::llabs(a.after - a.before), less = std::llabs(b.after - b.before);
    return more != less ? more > less : a.what < b.what;
  });
  return all;
}

KernelDifference compared(const SassKernel& before, const SassKernel& after) {
  KernelDifference difference{after.name, "", before.instructions, after.instructions, changes(before.classes, after.classes), changes(before.opcodes, after.opcodes)};
  if (before.registers >= 0 && after.registers >= 0 && before.registers != after.registers)
    difference.classes.insert(difference.classes.begin(), {"registers", before.registers, after.registers});
  if (before.stack_bytes >= 0 && after.stack_bytes >= 0 && before.stack_bytes != after.stack_bytes)
    difference.classes.insert(difference.classes.begin(), {"stack bytes", before.stack_bytes, after.stack_bytes});
  return difference;
}

// "void f<3, float>(float*)" -> "f": what stays when a template argument or a parameter changes.
std::string bare_name(std::string name) {
  if (const auto parameters = name.find('('); parameters != std::string::npos && parameters > 0) name.erase(parameters);
  if (const auto arguments = name.find('<'); arguments != std::string::npos) name.erase(arguments);
  return name.substr(name.rfind(' ') + 1);
}

using Rest = std::vector<const SassKernel*>;

const SassKernel* only_one(const Rest& rest, const std::string& name) {
  const SassKernel* found = nullptr;
  for (const SassKernel* kernel : rest)
    if (bare_name(kernel->name) == name) {
      if (found) return nullptr;
      found = kernel;
    }
  return found;
}

}  // namespace

std::vector<KernelDifference> difference(const std::vector<SassKernel>& before, const std::vector<SassKernel>& after, int64_t& same) {
  std::vector<KernelDifference> all;
  same = 0;
  const auto compare = [&](const SassKernel& old, const SassKernel& now) {
    KernelDifference found = compared(old, now);
    if (found.opcodes.empty() && found.classes.empty()) ++same;
    else all.push_back(std::move(found));
  };
  Rest gone, come;
  for (const SassKernel& kernel : before) gone.push_back(&kernel);
  for (const SassKernel& kernel : after) {
    const auto twin = std::find_if(gone.begin(), gone.end(), [&](const SassKernel* old) { return old->symbol == kernel.symbol && old->architecture == kernel.architecture; });
    if (twin == gone.end()) {
      come.push_back(&kernel);
      continue;
    }
    compare(**twin, kernel);
    gone.erase(twin);
  }
  for (auto it = come.begin(); it != come.end();) {
    const std::string name = bare_name((*it)->name);
    const SassKernel *old = only_one(gone, name), *now = only_one(come, name);
    if (!old || !now) {
      ++it;
      continue;
    }
    compare(*old, *now);
    gone.erase(std::find(gone.begin(), gone.end(), old));
    it = come.erase(it);
  }
  for (const SassKernel* kernel : gone) all.push_back({kernel->name, "before", kernel->instructions, 0, changes(kernel->classes, {}), changes(kernel->opcodes, {})});
  for (const SassKernel* kernel : come) all.push_back({kernel->name, "after", 0, kernel->instructions, changes({}, kernel->classes), changes({}, kernel->opcodes)});
  return all;
}

}  // namespace whet
