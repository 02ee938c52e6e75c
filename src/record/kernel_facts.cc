// SPDX-License-Identifier: Apache-2.0
#include "record/kernel_facts.h"

#include "base/json_impl.h"
#include "record/exact_reader.h"

namespace whet {
namespace {

KernelFacts read_kernel(const Json& json, const ExactReader& parent, std::size_t index) {
  ExactReader in(json, parent, "kernels", index);
  const auto bytes = [&](const char* key) { return in.whole(key, 0, std::numeric_limits<int64_t>::max()); };
  KernelFacts kernel;
  kernel.name = in.string("name");
  kernel.symbol = in.string("symbol");
  kernel.arch = in.string("arch");
  kernel.registers = in.integer("registers");
  kernel.barriers = in.integer("barriers");
  kernel.spill_store_bytes = bytes("spill_store_bytes");
  kernel.spill_load_bytes = bytes("spill_load_bytes");
  kernel.stack_bytes = bytes("stack_bytes");
  kernel.shared_bytes = bytes("shared_bytes");
  kernel.constant_bytes = bytes("constant_bytes");
  kernel.advisories = in.strings("advisories");
  in.finish();
  return kernel;
}

}  // namespace

Json to_json(const KernelFacts& kernel) {
  return {{"name", kernel.name},
          {"symbol", kernel.symbol},
          {"arch", kernel.arch},
          {"registers", kernel.registers},
          {"barriers", kernel.barriers},
          {"spill_store_bytes", kernel.spill_store_bytes},
          {"spill_load_bytes", kernel.spill_load_bytes},
          {"stack_bytes", kernel.stack_bytes},
          {"shared_bytes", kernel.shared_bytes},
          {"constant_bytes", kernel.constant_bytes},
          {"advisories", kernel.advisories}};
}

Json to_json(const KernelReport& code) {
  Json kernels = Json::array();
  for (const KernelFacts& kernel : code.kernels) kernels.push_back(to_json(kernel));
  return {{"kernels", std::move(kernels)}, {"advisories", code.advisories}};
}

KernelReport read_device_code(ExactReader& in) {
  KernelReport code;
  const Json& kernels = in.array("kernels");
  for (std::size_t i = 0; i < kernels.size() && !in.failed(); ++i)
    code.kernels.push_back(read_kernel(kernels[i], in, i));
  code.advisories = in.strings("advisories");
  in.finish();
  return code;
}

}  // namespace whet
