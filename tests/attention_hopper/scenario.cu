// SPDX-License-Identifier: Apache-2.0
#include "scenario.h"

#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_fp8.h>
#include <cuda_runtime.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <numeric>
#include <sstream>

#include "device.h"

namespace hopper {
namespace {

std::string read_file(const std::string& path) {
  std::ifstream in(path);
  if (!in) {
    std::fprintf(stderr, "%s: cannot be read\n", path.c_str());
    std::exit(2);
  }
  return std::string(std::istreambuf_iterator<char>(in), {});
}

Type type_of(const std::string& name) {
  return name == "bfloat16" ? Type::bf16 : name == "float16" ? Type::fp16 : name == "float8_e4m3fn" ? Type::e4m3 : name == "int32" ? Type::i32 : Type::f32;
}

__host__ __device__ unsigned long long mix(unsigned long long x) {
  x += 0x9e3779b97f4a7c15ull;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ull;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebull;
  return x ^ (x >> 31);
}

__device__ void store(void* data, Type type, long long i, float value) {
  switch (type) {
    case Type::bf16: static_cast<__nv_bfloat16*>(data)[i] = __float2bfloat16(value); break;
    case Type::fp16: static_cast<__half*>(data)[i] = __float2half(value); break;
    case Type::e4m3: static_cast<__nv_fp8_e4m3*>(data)[i] = __nv_fp8_e4m3(value); break;
    case Type::f32: static_cast<float*>(data)[i] = value; break;
    case Type::i32: static_cast<int*>(data)[i] = static_cast<int>(value); break;
  }
}

__global__ void fill_normal(void* data, Type type, long long count, float scale, unsigned long long seed) {
  for (long long i = blockIdx.x * static_cast<long long>(blockDim.x) + threadIdx.x; 2 * i < count; i += static_cast<long long>(gridDim.x) * blockDim.x) {
    const unsigned long long bits = mix(seed + i);
    const float u = (static_cast<float>(bits >> 40) + 0.5f) * 0x1p-24f, angle = static_cast<float>((bits >> 8) & 0xffffff) * (6.2831853f * 0x1p-24f);
    const float radius = scale * sqrtf(-2.f * __logf(u));
    store(data, type, 2 * i, radius * __cosf(angle));
    if (2 * i + 1 < count) store(data, type, 2 * i + 1, radius * __sinf(angle));
  }
}

// One element of each row, 8 deviations, either sign.
__global__ void plant(void* data, Type type, long long rows, int row, float scale, unsigned long long seed) {
  for (long long i = blockIdx.x * static_cast<long long>(blockDim.x) + threadIdx.x; i < rows; i += static_cast<long long>(gridDim.x) * blockDim.x) {
    const unsigned long long bits = mix(~seed + i);
    store(data, type, i * row + static_cast<int>((bits >> 32) * row >> 32), bits & 1 ? 8 * scale : -8 * scale);
  }
}

__global__ void fill_uniform(void* data, Type type, long long count, float low, float high, unsigned long long seed) {
  for (long long i = blockIdx.x * static_cast<long long>(blockDim.x) + threadIdx.x; i < count; i += static_cast<long long>(gridDim.x) * blockDim.x)
    store(data, type, i, low + (high - low) * (static_cast<float>(mix(seed + i) >> 40) + 0.5f) * 0x1p-24f);
}

__global__ void round_bits(void* data, Type type, long long count) {
  for (long long i = blockIdx.x * static_cast<long long>(blockDim.x) + threadIdx.x; i < count; i += static_cast<long long>(gridDim.x) * blockDim.x) {
    const float value = type == Type::bf16   ? __bfloat162float(static_cast<__nv_bfloat16*>(data)[i])
                        : type == Type::fp16 ? __half2float(static_cast<__half*>(data)[i])
                                             : static_cast<float>(static_cast<__nv_fp8_e4m3*>(data)[i]);
    const int drop = 23 - (type == Type::e4m3 ? 2 : 4);
    unsigned bits = __float_as_uint(value);
    bits += (1u << (drop - 1)) - 1u + ((bits >> drop) & 1u);
    store(data, type, i, __uint_as_float(bits & ~((1u << drop) - 1u)));
  }
}

Scenario scenario_of(const Json& line, const Json& definition) {
  Scenario s;
  const Json &workload = line.at("workload"), &whet = workload.at("whet");
  s.definition = line.at("definition").text;
  s.name = whet.at("name").text;
  s.family = whet.at("family").text;
  for (const auto& [key, set] : whet.at("sets").members) s.sets.push_back(set.text);
  const Json& tolerance = whet.at("tolerance");
  s.rtol = tolerance.at("rtol").number;
  s.atol = tolerance.at("atol").number;
  s.norm = tolerance.at("norm").number;
  s.flops = whet.at("floor").at("flops").number;
  s.bytes = whet.at("floor").at("bytes").number;
  for (const auto& [name, axis] : definition.at("axes").members) {
    const Json* fixed = axis.find("value");
    s.axes.emplace_back(name, (fixed ? *fixed : workload.at("axes").at(name)).integer());
  }
  for (const char* kind : {"inputs", "outputs"})
    for (const auto& [name, spec] : definition.at(kind).members) {
      if (spec.at("shape").type == Json::Type::null) {
        const Json& value = workload.at("inputs").at(name).at("value");
        const std::string& type = spec.at("dtype").text;
        const double number = value.type == Json::Type::boolean ? value.truth : value.number;
        s.scalars.emplace_back(name, WhetScalar{type == "bool" ? WHET_SCALAR_BOOL : type == "int64" ? WHET_SCALAR_INT : WHET_SCALAR_FLOAT, 0, static_cast<whet_int64>(number), number});
        continue;
      }
      Tensor tensor;
      tensor.name = name;
      tensor.type = type_of(spec.at("dtype").text);
      tensor.output = std::string(kind) == "outputs";
      for (const auto& [key, axis] : spec.at("shape").members) tensor.shape.push_back(s.axis(axis.text));
      for (whet_int64 extent : tensor.shape) tensor.count *= extent;
      if (!tensor.output) {
        tensor.plan = definition.at("whet").at("roles").at(name).text == "plan";
        const Json& recipe = whet.at("recipes").at(name);
        tensor.recipe.kind = recipe.at("kind").text;
        if (const Json* scale = recipe.find("scale")) tensor.recipe.scale = scale->number;
        if (const Json* low = recipe.find("low")) tensor.recipe.low = low->number;
        if (const Json* high = recipe.find("high")) tensor.recipe.high = high->number;
        if (const Json* lengths = recipe.find("lengths"))
          for (const auto& [key, length] : lengths->members) tensor.recipe.lengths.push_back(static_cast<int>(length.integer()));
      }
      s.tensors.push_back(std::move(tensor));
    }
  return s;
}

}  // namespace

int size_of(Type type) { return type == Type::e4m3 ? 1 : type == Type::bf16 || type == Type::fp16 ? 2 : 4; }

whet_int64 Scenario::axis(const std::string& wanted) const {
  for (const auto& [name, value] : axes)
    if (name == wanted) return value;
  std::fprintf(stderr, "%s: no axis %s\n", definition.c_str(), wanted.c_str());
  std::exit(2);
}
const WhetScalar& Scenario::scalar(const std::string& wanted) const {
  for (const auto& [name, value] : scalars)
    if (name == wanted) return value;
  std::fprintf(stderr, "%s: no scalar %s\n", definition.c_str(), wanted.c_str());
  std::exit(2);
}
const Tensor* Scenario::tensor(const std::string& wanted) const {
  for (const Tensor& tensor : tensors)
    if (tensor.name == wanted) return &tensor;
  return nullptr;
}

std::map<std::string, Json> read_definitions(const std::string& task, const std::vector<std::string>& names) {
  std::map<std::string, Json> definitions;
  for (const std::string& name : names) {
    const std::string text = read_file(task + "/definitions/" + name + ".json");
    definitions[name] = JsonParser(text).parse();
  }
  return definitions;
}

std::vector<Scenario> read_scenarios(const std::string& path, const std::map<std::string, Json>& definitions) {
  std::vector<Scenario> scenarios;
  std::istringstream lines(read_file(path));
  for (std::string line; std::getline(lines, line);) {
    if (line.empty()) continue;
    const Json json = JsonParser(line).parse();
    scenarios.push_back(scenario_of(json, definitions.at(json.at("definition").text)));
  }
  return scenarios;
}

void allocate(Scenario& scenario) {
  for (Tensor& tensor : scenario.tensors) must(cudaMalloc(&tensor.data, static_cast<std::size_t>(tensor.bytes() + 256)), "cudaMalloc");
}
void release(Scenario& scenario) {
  for (Tensor& tensor : scenario.tensors) {
    cudaFree(tensor.data);
    tensor.data = nullptr;
  }
}

void draw(const Scenario& scenario, const Tensor& tensor, unsigned long long seed) {
  constexpr int kBlocks = 2048, kThreads = 256;
  for (char c : scenario.name + "/" + tensor.name) seed = mix(seed * 31 + static_cast<unsigned char>(c));
  const std::string& kind = tensor.recipe.kind;
  const auto scale = static_cast<float>(tensor.recipe.scale);
  if (kind == "normal" || kind == "planted") {
    fill_normal<<<kBlocks, kThreads>>>(tensor.data, tensor.type, tensor.count, scale, seed);
    const auto row = static_cast<int>(tensor.shape.back());
    if (kind == "planted") plant<<<kBlocks, kThreads>>>(tensor.data, tensor.type, tensor.count / row, row, scale, seed);
  } else if (kind == "uniform") {
    fill_uniform<<<kBlocks, kThreads>>>(tensor.data, tensor.type, tensor.count, static_cast<float>(tensor.recipe.low), static_cast<float>(tensor.recipe.high), seed);
  } else {
    std::vector<int> values = tensor.recipe.lengths;
    if (kind == "page_permutation") {
      values.resize(static_cast<std::size_t>(tensor.count));
      std::iota(values.begin(), values.end(), 0);
      for (std::size_t i = values.size(); i > 1; --i) std::swap(values[i - 1], values[mix(seed + i) % i]);
    }
    must(cudaMemcpy(tensor.data, values.data(), values.size() * sizeof(int), cudaMemcpyHostToDevice), "cudaMemcpy");
  }
  must(cudaGetLastError(), "drawing inputs");
}

void round_down(const Tensor& tensor) {
  if (tensor.type == Type::bf16 || tensor.type == Type::fp16 || tensor.type == Type::e4m3) round_bits<<<2048, 256>>>(tensor.data, tensor.type, tensor.count);
}

}  // namespace hopper
