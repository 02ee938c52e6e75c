#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes ptx/wgmma_shapes.cuh: wgmma names each accumulator register in its text, which no template can spell."""
import pathlib

SHAPES = {"ss": [64, 80, 96, 112, 128, 176], "rs": [64, 96, 128, 192, 256]}
TYPES = [("__nv_bfloat16", "bf16", 16), ("__half", "f16", 16), ("__nv_fp8_e4m3", "e4m3", 32)]


def numbered(first, count):
    return ", ".join(f"%{i}" for i in range(first, first + count))


def lines_of(words, width=150):
    line = ""
    for word in words:
        if len(line) + len(word) + 2 > width:
            yield line
            line = ""
        line += ("" if not line else " ") + word
    if line:
        yield line


def accumulators(count):
    words = [f'"+f"(d[{i}]),' for i in range(count)]
    words[-1] = words[-1][:-1]
    return "\n".join("        " + line for line in lines_of(words))


def operands(count):
    names = [f"%{i}," for i in range(count)]
    names[-1] = names[-1][:-1]
    return "\n".join('        "' + line + ' "' for line in lines_of(names))


def product(form, n, cpp, ptx, k):
    count = n // 2
    if form == "ss":
        arguments = "uint64_t a, uint64_t b, int accumulate"
        inputs = f"%{count}, %{count + 1}"
        predicate = f"%{count + 2}"
        tail = "p, 1, 1, 0, 0;" if k == 16 else "p, 1, 1;"
        values = '"l"(a), "l"(b), "r"(accumulate)'
    else:
        arguments = "const uint32_t (&a)[4], uint64_t b, int accumulate"
        inputs = "{" + numbered(count, 4) + f"}}, %{count + 4}"
        predicate = f"%{count + 5}"
        tail = "p, 1, 1, 1;"
        values = '"r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b), "r"(accumulate)'
    return f"""template <>
struct {form.upper()}<{cpp}, {n}> {{
  static __device__ __forceinline__ void go(float (&d)[{count}], {arguments}) {{
    asm volatile(
        "{{ .reg .pred p; setp.ne.b32 p, {predicate}, 0; wgmma.mma_async.sync.aligned.m64n{n}k{k}.f32.{ptx}.{ptx} {{"
{operands(count)}
        "}}, {inputs}, {tail} }}"
        :
{accumulators(count)}
        : {values});
  }}
}};
"""


def main():
    text = """// SPDX-License-Identifier: Apache-2.0
//
// Written by tools/make_wgmma.py. One product of a warpgroup over 32 bytes of the summed index, d (+)= a b, float32 sums.
//   SS: a (64 x 16, e4m3: x 32) and b (N x the same) in shared memory, both with the summed index contiguous
//   RS: a in registers, b (16 x N) in shared memory with N contiguous
#pragma once

#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_fp8.h>

#include <cstdint>

namespace whet_kernels::ptx {

template <class T, int kN>
struct SS;
template <class T, int kN>
struct RS;

"""
    for form, shapes in SHAPES.items():
        for cpp, ptx, k in TYPES:
            if form == "rs" and k == 32:
                continue  # values are widened: 8-bit products take no operand whose summed index runs across rows
            for n in shapes:
                text += product(form, n, cpp, ptx, k) + "\n"
    text += "}  // namespace whet_kernels::ptx\n"
    (pathlib.Path(__file__).resolve().parent.parent / "ptx" / "wgmma_shapes.cuh").write_text(text)


main()
