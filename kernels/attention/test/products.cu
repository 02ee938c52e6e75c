// SPDX-License-Identifier: Apache-2.0
//
// Unit checks on a GPU: one tile through tensor maps, copies and both products of each instance's shape, with the descriptors that the kernel uses.
// Small integers make every result exact. Exit code 0: all right; 1: some are not; 77: no GPU.
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "forward/config.cuh"
#include "forward/kernel_arguments.h"
#include "plan/tensor_map.h"
#include "ptx/barrier.cuh"
#include "ptx/tma.cuh"
#include "ptx/warp.cuh"
#include "ptx/wgmma.cuh"

using namespace whet_kernels;

namespace {

void must(cudaError_t error, const char* what) {
  if (error == cudaSuccess) return;
  std::printf("%s: %s\n", what, cudaGetErrorString(error));
  std::exit(1);
}

// Scores (64 x keys) of the warpgroup's rows, and outputs (64 x Dv) of the scores rounded to the storage type, both as float32.
template <class C>
__global__ void __launch_bounds__(128, 1) both_products(const __grid_constant__ Maps maps, float* scores, float* outputs) {
#if defined(__CUDA_ARCH_FEAT_SM90_ALL)
  extern __shared__ __align__(1024) char shared[];
  using Block = ptx::Swizzled<C::kRowBytes>;
  using T = typename C::T;
  const uint32_t base = ptx::shared_address(shared), q_at = base, k_at = q_at + 64 * C::kD * 2, v_at = k_at + C::kKBytes, barrier = v_at + C::kVBytes;
  if (threadIdx.x == 0) {
    ptx::barrier_init(barrier, 1);
    ptx::barrier_init_fence();
    ptx::arrive_expecting(barrier, 64 * C::kD * 2 + C::kKBytes + C::kVBytes);
    for (int i = 0; i < C::kBlocks; ++i) ptx::load_box(q_at + i * 64 * Block::kRowBytes, &maps.q, barrier, 0, 0, 0, i, 0);
    ptx::load_box(k_at, &maps.k, barrier, 0, 0, 0, 0, 0);
    ptx::load_box(v_at, &maps.v, barrier, 0, 0, 0, 0, 0);
  }
  __syncthreads();
  ptx::wait(barrier, 0, "tile");
  float s[C::kKeys / 2], o[C::kDv / 2];
  uint32_t p[C::kKeys / 16][4];
  ptx::products_fence();
  const uint64_t q = Block::along_rows(q_at), k = Block::along_rows(k_at), v = Block::across_rows(v_at, C::kKeys * Block::kRowBytes);
#pragma unroll
  for (int block = 0; block < C::kBlocks; ++block)
#pragma unroll
    for (int i = 0; i < C::kRowBytes / 32; ++i)
      ptx::SS<T, C::kKeys>::go(s, q + ((block * 64 * Block::kRowBytes + 32 * i) >> 4), k + ((block * C::kKeys * Block::kRowBytes + 32 * i) >> 4), block + i > 0);
  ptx::products_commit();
  ptx::products_wait<0>();
  ptx::hold(s);
#pragma unroll
  for (int i = 0; i < C::kKeys / 16; ++i)
#pragma unroll
    for (int j = 0; j < 4; ++j) p[i][j] = ptx::pack<T>(s[8 * i + 2 * j], s[8 * i + 2 * j + 1]);
  ptx::products_fence();
#pragma unroll
  for (int i = 0; i < C::kKeys / 16; ++i) ptx::RS<T, C::kDv>::go(o, p[i], v + ((2 * i * Block::kAtomBytes) >> 4), i > 0);
  ptx::products_commit();
  ptx::products_wait<0>();
  ptx::hold(o);
  ptx::hold(p);
  const int row = threadIdx.x / 32 * 16 + threadIdx.x % 32 / 4, column = threadIdx.x % 4 * 2;
#pragma unroll
  for (int i = 0; i < 2; ++i)
#pragma unroll
    for (int e = 0; e < 2; ++e) {
#pragma unroll
      for (int j = 0; j < C::kKeys / 8; ++j) scores[(row + 8 * i) * C::kKeys + 8 * j + column + e] = s[4 * j + 2 * i + e];
#pragma unroll
      for (int j = 0; j < C::kDv / 8; ++j) outputs[(row + 8 * i) * C::kDv + 8 * j + column + e] = o[4 * j + 2 * i + e];
    }
#endif
}

template <class T>
T* random_matrix(int rows, int columns, std::vector<float>& host, int modulus) {
  host.resize(static_cast<size_t>(rows) * columns);
  std::vector<T> values(host.size());
  for (size_t i = 0; i < host.size(); ++i) {
    host[i] = static_cast<float>(std::rand() / 7 % modulus - modulus / 2);
    values[i] = T(host[i]);
  }
  T* device = nullptr;
  must(cudaMalloc(&device, values.size() * sizeof(T)), "cudaMalloc");
  must(cudaMemcpy(device, values.data(), values.size() * sizeof(T), cudaMemcpyHostToDevice), "cudaMemcpy");
  return device;
}

bool same(const char* what, const float* device, const std::vector<float>& want, int columns) {
  std::vector<float> got(want.size());
  must(cudaMemcpy(got.data(), device, 4 * got.size(), cudaMemcpyDeviceToHost), "cudaMemcpy");
  int shown = 0, wrong = 0;
  for (size_t i = 0; i < want.size(); ++i) {
    if (got[i] == want[i]) continue;
    ++wrong;
    if (shown++ < 6) std::printf("    %s row %zu column %zu: got %g, want %g\n", what, i / columns, i % columns, got[i], want[i]);
  }
  if (wrong > 0) std::printf("    %s: %d of %zu wrong\n", what, wrong, want.size());
  return wrong == 0;
}

template <class C>
bool check(const char* name) {
  using T = typename C::T;
  std::vector<float> q, k, v;
  T *dq = random_matrix<T>(64, C::kD, q, 3), *dk = random_matrix<T>(C::kKeys, C::kD, k, 3), *dv = random_matrix<T>(C::kKeys, C::kDv, v, 5);
  Maps maps;
  const auto map = [&](const void* at, int rows, int width, bool whole, CUtensorMap* to) {
    const long long columns = C::kRowBytes / 2;
    const std::string error = encode({at, std::is_same<T, __nv_bfloat16>::value ? 0 : 1, C::kRowBytes, {columns, whole ? rows : 1, whole ? width / columns : rows, whole ? 1 : width / columns, 1},
                                      {2, whole ? 2ll * width : 16, whole ? 2 * columns : 2ll * width, whole ? 16 : 2 * columns, 16}, {C::kRowBytes / 2, whole ? rows : 1, whole ? static_cast<int>(width / columns) : rows, 1, 1}}, to);
    if (!error.empty()) std::printf("    %s\n", error.c_str());
    return error.empty();
  };
  if (!map(dq, 64, C::kD, false, &maps.q) || !map(dk, C::kKeys, C::kD, true, &maps.k) || !map(dv, C::kKeys, C::kDv, true, &maps.v)) return false;
  std::vector<float> scores(64 * C::kKeys), outputs(64 * C::kDv);
  for (int i = 0; i < 64; ++i) {
    for (int j = 0; j < C::kKeys; ++j)
      for (int c = 0; c < C::kD; ++c) scores[static_cast<size_t>(i * C::kKeys + j)] += q[static_cast<size_t>(i * C::kD + c)] * k[static_cast<size_t>(j * C::kD + c)];
    for (int j = 0; j < C::kKeys; ++j)
      for (int c = 0; c < C::kDv; ++c) outputs[static_cast<size_t>(i * C::kDv + c)] += scores[static_cast<size_t>(i * C::kKeys + j)] * v[static_cast<size_t>(j * C::kDv + c)];
  }
  float *s = nullptr, *o = nullptr;
  must(cudaMalloc(&s, 4 * scores.size()), "cudaMalloc");
  must(cudaMalloc(&o, 4 * outputs.size()), "cudaMalloc");
  must(cudaMemset(s, 0xff, 4 * scores.size()), "cudaMemset");
  must(cudaMemset(o, 0xff, 4 * outputs.size()), "cudaMemset");
  const int bytes = 64 * C::kD * 2 + C::kKBytes + C::kVBytes + 16;
  must(cudaFuncSetAttribute(both_products<C>, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes), name);
  both_products<C><<<1, 128, bytes>>>(maps, s, o);
  must(cudaDeviceSynchronize(), name);
  const bool right = same("scores", s, scores, C::kKeys) & same("outputs", o, outputs, C::kDv);
  std::printf("products %s: %s\n", name, right ? "right" : "WRONG");
  return right;
}

}  // namespace

int main() {
  int devices = 0;
  if (cudaGetDeviceCount(&devices) != cudaSuccess || devices == 0) return std::fprintf(stderr, "no GPU here\n"), 77;
  using B = __nv_bfloat16;
  bool right = check<Config<B, 64, 64, 1, 128, 1, false>>("bf16 64, 128 keys");
  right &= check<Config<B, 128, 128, 1, 128, 1, false>>("bf16 128, 128 keys");
  right &= check<Config<__half, 128, 128, 1, 128, 1, false>>("fp16 128, 128 keys");
  right &= check<Config<B, 128, 128, 1, 64, 1, false>>("bf16 128, 64 keys");
  right &= check<Config<B, 96, 96, 1, 64, 1, false>>("bf16 96, 64 keys");
  right &= check<Config<B, 192, 128, 1, 112, 1, false>>("bf16 192/128, 112 keys");
  right &= check<Config<B, 256, 256, 1, 80, 1, false>>("bf16 256, 80 keys");
  return right ? 0 : 1;
}
