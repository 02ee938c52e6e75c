# SPDX-License-Identifier: Apache-2.0
"""Chooses tiles in prepare() by the time they take on the shape at hand, and launches them in run()."""
import torch
import triton
import whet

import kernels

whet.note("triton %s" % triton.__version__)

LOG2_E = 1.4426950408889634
# BLOCK_M, BLOCK_N, warps, stages. Few rows: tensor cores take no fewer than 16.
FEW_ROWS = [(16, 64, 4, 3), (16, 128, 4, 3), (16, 128, 8, 2)]
SOME_ROWS = [(64, 64, 4, 3), (64, 128, 4, 2)]
MANY_ROWS = [(128, 64, 4, 3), (128, 128, 8, 2), (128, 64, 8, 3), (64, 64, 4, 3)]
WIDE = [(128, 64, 8, 2), (64, 64, 4, 2), (64, 32, 4, 2)]  # more than 128 columns
chosen = {}  # shape -> tiles


def powers(columns):
    """The two powers of two that make it up; the second may be 0."""
    first = 1 << (columns.bit_length() - 1)
    return first, columns - first


class Problem:
    def __init__(self, values):
        named = dict(zip(whet.inputs(), values))
        self.q, self.k, self.v, self.o = named["q"], named["k"], named["v"], values[-1]
        self.cu_q, self.cu_k, self.used, self.pages = (named.get(name) for name in ("cu_seqlens_q", "cu_seqlens_k", "seqused_k", "page_table"))
        self.leftpad, self.sink = named.get("leftpad"), named.get("sink")
        self.layout = 2 if self.pages is not None else 1 if self.cu_q is not None else 0
        self.kv_heads, self.v_dim = self.k.shape[-2], self.v.shape[-1]
        self.q_heads, self.head_dim = self.q.shape[-2:]
        self.group = self.q_heads // self.kv_heads
        self.batch = self.cu_q.shape[0] - 1 if self.layout else self.q.shape[0]
        self.max_q = named["max_q"] if self.layout else self.q.shape[1]
        self.max_k = named["max_k"] if self.layout else self.k.shape[1]
        self.total_q = self.q.shape[0] if self.layout else self.q.shape[0] * self.q.shape[1]
        self.left, self.right = named["window_left"], 0 if named["causal"] else named["window_right"]
        self.softcap = named["softcap"]
        self.scale = named["scale"] * (1.0 if self.softcap > 0 else LOG2_E)
        self.shape = (self.layout, self.batch, self.max_q, self.max_k, self.total_q, self.q_heads, self.kv_heads, self.head_dim, self.v_dim, self.left, self.right, self.softcap > 0,
                      self.sink is not None, self.q.dtype, self.k.shape[1] if self.layout == 2 else 0)

    def launch(self, tiles, splits, partial, stats):
        block_m, block_n, warps, stages = tiles
        d0, d1 = powers(self.head_dim)
        v0, v1 = powers(self.v_dim)
        page = self.k.shape[1] if self.layout == 2 else 0
        some = self.q  # what stands where the layout has no such tensor: never read
        grid = (triton.cdiv(self.max_q * self.group, block_m), self.batch * self.kv_heads, splits)
        kernels.attend[grid](self.q, self.k, self.v, self.o, partial if splits > 1 else some, stats if splits > 1 else some, some if self.cu_q is None else self.cu_q,
                             some if self.cu_k is None else self.cu_k, some if self.used is None else self.used, some if self.pages is None else self.pages,
                             some if self.leftpad is None else self.leftpad, some if self.sink is None else self.sink, self.max_q, self.max_k, self.total_q, self.kv_heads, self.group,
                             self.left, self.right, self.scale, self.softcap, self.pages.shape[1] if self.layout == 2 else 0, LAYOUT=self.layout, PAGE=page, SOFTCAP=self.softcap > 0,
                             HAS_SINK=self.sink is not None, HAS_LEFTPAD=self.leftpad is not None, D0=d0, D1=d1, V0=v0, V1=v1, SPLITS=splits, BLOCK_M=block_m, BLOCK_N=block_n,
                             num_warps=warps, num_stages=stages)
        if splits > 1:
            rows = self.total_q * self.q_heads
            kernels.combine[(rows,)](self.o, partial, stats, rows, VD=self.v_dim, BLOCK_V=triton.next_power_of_2(self.v_dim), SPLITS=splits, num_warps=4)

    def candidates(self):
        rows = self.max_q * self.group
        if rows <= 32:
            return FEW_ROWS
        if max(self.head_dim, self.v_dim) > 128:
            return WIDE
        return SOME_ROWS if rows <= 128 else MANY_ROWS

    def splits(self, tiles):
        """So many that every multiprocessor has two programs, each with 256 keys at least."""
        programs = triton.cdiv(self.max_q * self.group, tiles[0]) * self.batch * self.kv_heads
        wanted = 2 * torch.cuda.get_device_properties(0).multi_processor_count // max(1, programs)
        splits = 1
        while 2 * splits <= min(wanted, self.max_k // 256, 32):
            splits *= 2
        return splits


def milliseconds(call):
    call()
    begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
    best = float("inf")
    for _ in range(3):
        torch.cuda._sleep(300_000)  # the launch takes longer than a small kernel: by then it is queued
        begin.record()
        call()
        end.record()
        end.synchronize()
        best = min(best, begin.elapsed_time(end))
    return best


def scratch(problem, splits):
    if splits == 1:
        return None, None
    rows = splits * problem.total_q * problem.q_heads
    return torch.empty(rows * problem.v_dim, dtype=torch.float32, device="cuda"), torch.empty(2 * rows, dtype=torch.float32, device="cuda")


def prepare(*values):
    problem = Problem(values)
    if problem.total_q == 0:
        return None
    if problem.shape not in chosen:
        times = {}
        for tiles in problem.candidates():
            splits = problem.splits(tiles)
            buffers = scratch(problem, splits)
            try:
                times[tiles] = milliseconds(lambda: problem.launch(tiles, splits, *buffers))
            except triton.runtime.errors.OutOfResources:
                continue  # of shared memory: another will do
        if not times:
            raise whet.Unsupported("no tile fits %d and %d columns" % (problem.head_dim, problem.v_dim))
        chosen[problem.shape] = min(times, key=times.get)
    tiles = chosen[problem.shape]
    splits = problem.splits(tiles)
    return tiles, splits, *scratch(problem, splits)


def run(*values, plan=None):
    if plan is not None:
        Problem(values).launch(*plan)
