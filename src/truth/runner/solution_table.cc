// SPDX-License-Identifier: Apache-2.0
#include "truth/runner/solution_table.h"

#include <dlfcn.h>

#include <cstdio>

#include "record/verdict.h"
#include "truth/runner/conversation.h"

namespace whet::runner {

Reply LibraryTable::load(const std::string& wanted, const WhetEntry*& found_entry) {
  found_entry = nullptr;
  const std::string definition = wanted.substr(0, wanted.find('\n'));
  void* library = dlopen(artifact_, RTLD_NOW | RTLD_LOCAL);
  if (!library) return failed(Code::load_failed, dlerror());
  auto* table_function = reinterpret_cast<const WhetSolution* (*)()>(dlsym(library, "whet_solution_v1"));
  if (!table_function) return failed(Code::entry_missing, "the shared library does not export whet_solution_v1");
  const WhetSolution* table = table_function();
  if (!table || table->abi_version != WHET_ABI_VERSION || !table->entries || table->num_entries > 4096)
    return failed(Code::abi_mismatch, "whet_solution_v1() returned no table of ABI version " + std::to_string(WHET_ABI_VERSION));
  std::string found;
  for (uint32_t i = 0; i < table->num_entries; ++i) {
    const WhetEntry& entry = table->entries[i];
    if (!entry.definition || !entry.run) return failed(Code::abi_mismatch, "an entry of the table has no definition or no run function");
    if (definition == entry.definition) found_entry = &entry;
    found += (i ? ", " : "") + std::string(entry.definition);
  }
  if (!found_entry) return failed(Code::definition_missing, "the table has entries for " + (found.empty() ? "nothing" : found) + ", none for " + definition);
  Reply reply;
  notes_ = reinterpret_cast<const char* (*)()>(dlsym(library, "whet_solution_notes"));
  add_notes(*this, reply);
  return reply;
}

std::string LibraryTable::notes() {
  const char* text = notes_ ? notes_() : nullptr;
  return text ? text : "";
}

void add_notes(SolutionTable& table, Reply& reply) { std::snprintf(reply.notes, sizeof reply.notes, "%s", table.notes().c_str()); }

void add_code(whet_int32 code, Reply& reply) {
  reply.solution_code = code;
  if (code != 0) reply.code = static_cast<int>(code == WHET_UNSUPPORTED ? Code::unsupported : Code::returned_error);
}

}  // namespace whet::runner
