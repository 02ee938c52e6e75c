// SPDX-License-Identifier: Apache-2.0
#include "record/disassembly.h"

#include "record/exact_reader.h"

namespace whet {
namespace {

constexpr int64_t kMost = int64_t{1} << 52;

Json counts_json(const std::map<std::string, int64_t>& counts) {
  Json json = Json::object();
  for (const auto& [what, count] : counts) json[what] = count;
  return json;
}

std::map<std::string, int64_t> counts_from(const Json& json, const ExactReader& parent, const char* key) {
  ExactReader in(json, parent, key);
  std::map<std::string, int64_t> counts;
  for (const auto& [what, count] : json.items()) {
    if (!count.is_number_integer()) {
      in.complain(what, "expected a whole number, found " + brief(count));
      break;
    }
    counts[what] = count.get<int64_t>();
  }
  return counts;
}

Json changes_json(const std::vector<CountChange>& changes) {
  Json json = Json::array();
  for (const CountChange& change : changes) json.push_back({{"what", change.what}, {"before", change.before}, {"after", change.after}});
  return json;
}

std::vector<CountChange> changes_from(ExactReader& parent, const char* key) {
  std::vector<CountChange> changes;
  std::size_t index = 0;
  for (const Json& json : parent.array(key)) {
    ExactReader in(json, parent, key, index++);
    changes.push_back({in.string("what"), in.whole("before", 0, kMost), in.whole("after", 0, kMost)});
    in.finish();
  }
  return changes;
}

Json kernel_json(const SassKernel& kernel) {
  return {{"name", kernel.name}, {"symbol", kernel.symbol}, {"architecture", kernel.architecture}, {"instructions", kernel.instructions},
          {"registers", kernel.registers}, {"stack_bytes", kernel.stack_bytes}, {"shared_bytes", kernel.shared_bytes},
          {"classes", counts_json(kernel.classes)}, {"opcodes", counts_json(kernel.opcodes)}, {"local_memory", kernel.local_memory}};
}

SassKernel kernel_from(const Json& json, const ExactReader& parent, std::size_t index) {
  ExactReader in(json, parent, "kernels", index);
  SassKernel kernel;
  kernel.name = in.string("name");
  kernel.symbol = in.string("symbol");
  kernel.architecture = in.string("architecture");
  kernel.instructions = in.whole("instructions", 0, kMost);
  kernel.registers = in.whole("registers", -1, kMost);
  kernel.stack_bytes = in.whole("stack_bytes", -1, kMost);
  kernel.shared_bytes = in.whole("shared_bytes", -1, kMost);
  kernel.classes = counts_from(in.object("classes"), in, "classes");
  kernel.opcodes = counts_from(in.object("opcodes"), in, "opcodes");
  kernel.local_memory = in.strings("local_memory");
  in.finish();
  return kernel;
}

KernelDifference difference_from(const Json& json, const ExactReader& parent, std::size_t index) {
  ExactReader in(json, parent, "differences", index);
  KernelDifference difference;
  difference.name = in.string("name");
  difference.only_in = in.string("only_in");
  difference.before = in.whole("before", 0, kMost);
  difference.after = in.whole("after", 0, kMost);
  difference.classes = changes_from(in, "classes");
  difference.opcodes = changes_from(in, "opcodes");
  in.finish();
  return difference;
}

}  // namespace

Json to_json(const Disassembly& disassembly) {
  Json kernels = Json::array(), differences = Json::array();
  for (const SassKernel& kernel : disassembly.kernels) kernels.push_back(kernel_json(kernel));
  for (const KernelDifference& difference : disassembly.differences)
    differences.push_back({{"name", difference.name}, {"only_in", difference.only_in}, {"before", difference.before}, {"after", difference.after},
                           {"classes", changes_json(difference.classes)}, {"opcodes", changes_json(difference.opcodes)}});
  return {{"solution", disassembly.solution}, {"against", disassembly.against}, {"tool", disassembly.tool}, {"kernels", std::move(kernels)},
          {"differences", std::move(differences)}, {"same_kernels", disassembly.same_kernels}};
}

Expected<Disassembly> disassembly_from_json(const Json& json, const std::string& where) {
  ExactReader::Failure failure{where, {}};
  ExactReader in(json, failure);
  Disassembly disassembly;
  disassembly.solution = in.string("solution");
  disassembly.against = in.string("against");
  disassembly.tool = in.string("tool");
  std::size_t index = 0;
  for (const Json& kernel : in.array("kernels")) disassembly.kernels.push_back(kernel_from(kernel, in, index++));
  index = 0;
  for (const Json& difference : in.array("differences")) disassembly.differences.push_back(difference_from(difference, in, index++));
  disassembly.same_kernels = in.whole("same_kernels", 0, kMost);
  in.finish();
  if (failure.error) return std::unexpected(*failure.error);
  return disassembly;
}

}  // namespace whet
