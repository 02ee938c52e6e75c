// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string_view>

namespace whet {

// Writes back and drops every cache line of [data, data + bytes) from all caches of all cores, and returns when that is done. Works through any
// mapping, read-only ones too, since caches go by physical address. Never by the size of a cache: machines report those wrongly.
void flush(const void* data, size_t bytes);

// As memcpy, and `to` is in no cache afterwards as far as the processor can write past them: for what will be flushed anyway.
void copy_past_caches(void* to, const void* from, size_t bytes);

// "clflushopt", "clflush", "dc civac", or "none" where there is no such instruction for us.
std::string_view flush_instruction();

}  // namespace whet
