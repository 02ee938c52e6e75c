// SPDX-License-Identifier: Apache-2.0
#include "task/safetensors.h"

#include "fuzzed.h"

using namespace whet;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, std::size_t size) {
  const std::string_view file = text_of(data, size);
  auto header = read_safetensors_header(file, size, "f");
  if (!header) {
    must(header.error().what.starts_with("f"), "an error names the file");
    return 0;
  }
  for (const auto& [name, entry] : header->tensors) {
    must(header->data_offset + entry.end <= size, "a tensor lies within the file");
    for (Dtype dtype : {Dtype::float32, Dtype::bfloat16, Dtype::int32, Dtype::boolean, Dtype::float4_e2m1}) {
      auto bytes = load_safetensor(file, name, dtype, entry.shape, "f");
      if (!bytes) continue;
      unsigned sum = 0;
      for (char c : *bytes) sum += static_cast<unsigned char>(c);  // the sanitizer sees a read beyond the end
      must(sum <= 255u * bytes->size(), "bytes are bytes");
    }
  }
  return 0;
}
