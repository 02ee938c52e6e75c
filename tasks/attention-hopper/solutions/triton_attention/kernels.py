# SPDX-License-Identifier: Apache-2.0
"""One kernel for all layouts, and one that combines what splits of the keys gave. Rows of a tile are the query heads of a group at successive positions, so that keys
are read once for all of them. Columns are two powers of two, since 96 and 192 are none: D0 + D1 of q and k, V0 + V1 of v."""
import triton
import triton.language as tl


@triton.jit
def _key_rows(n, b, k_begin, Pages, pages_per_seq, valid, PAGE: tl.constexpr):
    """Where key n of a sequence lies, as a row of k and v."""
    rows = (k_begin + n).to(tl.int64)
    if PAGE > 0:
        page = tl.load(Pages + b * pages_per_seq + n // PAGE, mask=valid, other=0)
        rows = page.to(tl.int64) * PAGE + n % PAGE
    return rows


@triton.jit
def _part(acc0, acc1, m_i, l_i, q0, q1, K, V, begin, end, position, b, k_begin, head_offset_k, head_offset_v, row_k, row_v, first_key, keys, left, right, scale, softcap, Pages,
          pages_per_seq, PAGE: tl.constexpr, MASKED: tl.constexpr, SOFTCAP: tl.constexpr, D0: tl.constexpr, D1: tl.constexpr, V0: tl.constexpr, V1: tl.constexpr,
          BLOCK_N: tl.constexpr):
    """Keys begin..end; `scale` has log2(e) in it unless there is a softcap."""
    d0, v0 = tl.arange(0, D0), tl.arange(0, V0)
    for start in range(begin, end, BLOCK_N):
        n = start + tl.arange(0, BLOCK_N)
        there = n < end
        rows = _key_rows(n, b, k_begin, Pages, pages_per_seq, there, PAGE)
        k_base = K + rows * row_k + head_offset_k
        v_base = V + rows * row_v + head_offset_v
        if MASKED:
            k0 = tl.load(k_base[None, :] + d0[:, None], mask=there[None, :], other=0.0)
        else:
            k0 = tl.load(k_base[None, :] + d0[:, None])
        s = tl.dot(q0, k0)
        if D1 > 0:
            d1 = D0 + tl.arange(0, D1)
            if MASKED:
                k1 = tl.load(k_base[None, :] + d1[:, None], mask=there[None, :], other=0.0)
            else:
                k1 = tl.load(k_base[None, :] + d1[:, None])
            s = tl.dot(q1, k1, acc=s)
        s = s * scale
        if SOFTCAP:
            # softcap * tanh(s / softcap), to base 2
            s = softcap * 1.4426950408889634 * (1.0 - 2.0 / (tl.exp2(s * (2.8853900817779268 / softcap)) + 1.0))
        if MASKED:
            seen = (n[None, :] >= first_key) & there[None, :]
            seen = seen & ((right < 0) | (n[None, :] <= position[:, None] + right))
            seen = seen & ((left < 0) | (n[None, :] >= position[:, None] - left))
            s = tl.where(seen, s, float("-inf"))
        m_new = tl.maximum(m_i, tl.max(s, 1))
        # A row that has seen nothing yet must not become NaN.
        m_used = tl.where(m_new == float("-inf"), 0.0, m_new) if MASKED else m_new
        p = tl.exp2(s - m_used[:, None])
        alpha = tl.exp2(m_i - m_used)
        l_i = l_i * alpha + tl.sum(p, 1)
        m_i = m_new
        weights = p.to(V.dtype.element_ty)
        if MASKED:
            values0 = tl.load(v_base[:, None] + v0[None, :], mask=there[:, None], other=0.0)
        else:
            values0 = tl.load(v_base[:, None] + v0[None, :])
        acc0 = tl.dot(weights, values0, acc=acc0 * alpha[:, None])
        if V1 > 0:
            v1 = V0 + tl.arange(0, V1)
            if MASKED:
                values1 = tl.load(v_base[:, None] + v1[None, :], mask=there[:, None], other=0.0)
            else:
                values1 = tl.load(v_base[:, None] + v1[None, :])
            acc1 = tl.dot(weights, values1, acc=acc1 * alpha[:, None])
    return acc0, acc1, m_i, l_i


# Sizes are not specialised on: a size of 1 would become a constant, and of another type than the variables that it meets.
@triton.jit(do_not_specialize=["q_len", "kv_len", "total_q", "kv_heads", "group", "left", "right", "pages_per_seq"])
def attend(Q, K, V, O, Partial, Stats, CuQ, CuK, Used, Pages, Leftpad, Sink, q_len, kv_len, total_q, kv_heads, group, left, right, scale, softcap, pages_per_seq,
           LAYOUT: tl.constexpr, PAGE: tl.constexpr, SOFTCAP: tl.constexpr, HAS_SINK: tl.constexpr, HAS_LEFTPAD: tl.constexpr, D0: tl.constexpr, D1: tl.constexpr,
           V0: tl.constexpr, V1: tl.constexpr, SPLITS: tl.constexpr, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr):
    """LAYOUT: 0 dense, 1 varlen, 2 paged. `right` is 0 where the mask is causal. Tiles are taken from the last, which have most keys where it is."""
    pid_m = tl.num_programs(0) - 1 - tl.program_id(0)
    b = tl.program_id(1) // kv_heads
    kv_head = tl.program_id(1) % kv_heads
    split = tl.program_id(2)
    D: tl.constexpr = D0 + D1
    VD: tl.constexpr = V0 + V1
    k_begin = pid_m * 0  # a scalar of the device, as what may take its place
    if LAYOUT == 0:
        q_begin, rows = b * q_len, q_len
        k_begin, keys = b * kv_len, kv_len
    else:
        q_begin = tl.load(CuQ + b)
        rows = tl.load(CuQ + b + 1) - q_begin
        if LAYOUT == 1:
            k_begin = tl.load(CuK + b)
            keys = tl.load(CuK + b + 1) - k_begin
        else:
            keys = tl.load(Used + b)
    if pid_m * BLOCK_M >= rows * group:
        return
    r = pid_m * BLOCK_M + tl.arange(0, BLOCK_M)
    valid = r < rows * group
    head = kv_head * group + r % group
    position = r // group + (keys - rows)
    row_of_q = ((q_begin + r // group).to(tl.int64) * (kv_heads * group) + head)
    q0 = tl.load(Q + row_of_q[:, None] * D + tl.arange(0, D0)[None, :], mask=valid[:, None], other=0.0)
    q1 = q0
    if D1 > 0:
        q1 = tl.load(Q + row_of_q[:, None] * D + D0 + tl.arange(0, D1)[None, :], mask=valid[:, None], other=0.0)

    # Keys that some row of the tile sees, lo..hi; of these, those that every row sees, full_lo..full_hi.
    lowest = (pid_m * BLOCK_M) // group + (keys - rows)
    highest = tl.minimum((pid_m * BLOCK_M + BLOCK_M - 1) // group, rows - 1) + (keys - rows)
    first_key = pid_m * 0
    if HAS_LEFTPAD:
        first_key = tl.load(Leftpad + b)
    lo, hi, full_lo, full_hi = first_key, keys, first_key, keys
    if right >= 0:
        hi = tl.minimum(keys, highest + right + 1)
        full_hi = tl.minimum(keys, lowest + right + 1)
    if left >= 0:
        lo = tl.maximum(first_key, lowest - left)
        full_lo = tl.maximum(first_key, highest - left)
    hi = tl.maximum(hi, lo)
    if SPLITS > 1:
        chunk = tl.cdiv(tl.cdiv(hi - lo, SPLITS), BLOCK_N) * BLOCK_N
        lo = tl.minimum(lo + split * chunk, hi)
        hi = tl.minimum(lo + chunk, hi)
        full_lo, full_hi = tl.maximum(full_lo, lo), tl.minimum(full_hi, hi)
    begin_full = lo + tl.cdiv(tl.maximum(full_lo - lo, 0), BLOCK_N) * BLOCK_N
    end_full = begin_full + tl.maximum(full_hi - begin_full, 0) // BLOCK_N * BLOCK_N

    m_i = tl.full([BLOCK_M], float("-inf"), tl.float32)
    l_i = tl.zeros([BLOCK_M], tl.float32)
    if HAS_SINK:
        if split == 0:
            m_i = tl.load(Sink + head, mask=valid, other=0.0).to(tl.float32) * 1.4426950408889634
            l_i += 1.0
    acc0 = tl.zeros([BLOCK_M, V0], tl.float32)
    acc1 = acc0
    if V1 > 0:
        acc1 = tl.zeros([BLOCK_M, V1], tl.float32)
    row_k, row_v = kv_heads * D, kv_heads * VD
    acc0, acc1, m_i, l_i = _part(acc0, acc1, m_i, l_i, q0, q1, K, V, lo, tl.minimum(begin_full, hi), position, b, k_begin, kv_head * D, kv_head * VD, row_k, row_v, first_key, keys, left,
                                 right, scale, softcap, Pages, pages_per_seq, PAGE, True, SOFTCAP, D0, D1, V0, V1, BLOCK_N)
    acc0, acc1, m_i, l_i = _part(acc0, acc1, m_i, l_i, q0, q1, K, V, begin_full, end_full, position, b, k_begin, kv_head * D, kv_head * VD, row_k, row_v, first_key, keys, left, right,
                                 scale, softcap, Pages, pages_per_seq, PAGE, False, SOFTCAP, D0, D1, V0, V1, BLOCK_N)
    acc0, acc1, m_i, l_i = _part(acc0, acc1, m_i, l_i, q0, q1, K, V, end_full, hi, position, b, k_begin, kv_head * D, kv_head * VD, row_k, row_v, first_key, keys, left, right, scale,
                                 softcap, Pages, pages_per_seq, PAGE, True, SOFTCAP, D0, D1, V0, V1, BLOCK_N)
    if SPLITS == 1:
        inverse = (1.0 / tl.where(l_i == 0.0, 1.0, l_i))[:, None]
        out = O + row_of_q[:, None] * VD
        tl.store(out + tl.arange(0, V0)[None, :], (acc0 * inverse).to(O.dtype.element_ty), mask=valid[:, None])
        if V1 > 0:
            tl.store(out + V0 + tl.arange(0, V1)[None, :], (acc1 * inverse).to(O.dtype.element_ty), mask=valid[:, None])
    else:
        place = split.to(tl.int64) * total_q * (kv_heads * group) + row_of_q
        out = Partial + place[:, None] * VD
        tl.store(out + tl.arange(0, V0)[None, :], acc0, mask=valid[:, None])
        if V1 > 0:
            tl.store(out + V0 + tl.arange(0, V1)[None, :], acc1, mask=valid[:, None])
        tl.store(Stats + 2 * place, m_i, mask=valid)
        tl.store(Stats + 2 * place + 1, l_i, mask=valid)


@triton.jit
def combine(O, Partial, Stats, total_rows, VD: tl.constexpr, BLOCK_V: tl.constexpr, SPLITS: tl.constexpr):
    """One program per query row and head."""
    row = tl.program_id(0).to(tl.int64)
    splits = tl.arange(0, SPLITS)
    place = splits.to(tl.int64) * total_rows + row
    m = tl.load(Stats + 2 * place)
    l = tl.load(Stats + 2 * place + 1)
    top = tl.max(m, 0)
    weights = tl.exp2(m - tl.where(top == float("-inf"), 0.0, top))
    total = tl.sum(l * weights, 0)
    column = tl.arange(0, BLOCK_V)
    parts = tl.load(Partial + place[:, None] * VD + column[None, :], mask=column[None, :] < VD, other=0.0)
    out = tl.sum(parts * weights[:, None], 0) / tl.where(total == 0.0, 1.0, total)
    tl.store(O + row * VD + column, out.to(O.dtype.element_ty), mask=column < VD)
