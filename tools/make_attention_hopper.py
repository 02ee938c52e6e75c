#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes definitions/ and workloads/ of tasks/attention-hopper from knowledge/attention_hopper_grid.jsonl, and
tests/attention_hopper/small_workloads.jsonl (every feature in shapes that a CPU computes at once) from knowledge/attention_hopper_small.jsonl.

    tools/make_attention_hopper.py [--check]

--check writes nothing and exits with 1 where the files on disk are not what the grid gives. Only the Python 3 standard library
is used. One line of the grid is one scenario:

    name, family, sets      as in the task; every scenario is in the set "full" besides
    q, kv, out              dtypes: bf16, fp16, e4m3
    b, h, hk, d, dv         sequences, query heads, key and value heads, columns of q and k, columns of v
    sq, sk                  query rows and keys: one number, or one per sequence
    packed                  sequences one behind the other, with cumulative lengths (else batch x length)
    page                    page size of a paged KV cache; absent: none
    causal, window, softcap window is [left, right] around the bottom-right diagonal
    sink, leftpad, absorbed a logit per head in the denominator; invalid keys in front; V is the first columns of K
"""

import json
import math
import pathlib
import sys
import uuid

ROOT = pathlib.Path(__file__).resolve().parent.parent
GRID = ROOT / "knowledge" / "attention_hopper_grid.jsonl"
SMALL = ROOT / "knowledge" / "attention_hopper_small.jsonl"
TASK = ROOT / "tasks" / "attention-hopper"

DTYPES = {"bf16": "bfloat16", "fp16": "float16", "e4m3": "float8_e4m3fn"}
BYTES = {"bf16": 2, "fp16": 2, "e4m3": 1}

# layout, q, kv, variant -> in the order in which the task reports them.
KINDS = [
    ("dense", "bf16", "bf16", ""),
    ("dense", "fp16", "fp16", ""),
    ("dense", "e4m3", "e4m3", ""),
    ("dense", "bf16", "bf16", "sink"),
    ("dense", "bf16", "bf16", "leftpad"),
    ("varlen", "bf16", "bf16", ""),
    ("varlen", "e4m3", "e4m3", ""),
    ("paged", "bf16", "bf16", ""),
    ("paged", "e4m3", "e4m3", ""),
    ("paged", "bf16", "e4m3", ""),
    ("paged", "bf16", "bf16", "sink"),
    ("paged", "bf16", "bf16", "mla"),
]


def name_of(kind):
    layout, q, kv, variant = kind
    return "_".join(["attention", layout, q] + (["kv" + kv] if kv != q else []) + ([variant] if variant else []))


def kind_of(row):
    layout = "paged" if "page" in row else "varlen" if row.get("packed") else "dense"
    variant = "mla" if row.get("absorbed") else "sink" if row.get("sink") else "leftpad" if "leftpad" in row else ""
    return (layout, row["q"], row["kv"], variant)


# ---- Definitions -----------------------------------------------------------------------------------------------------

AXES = {
    "batch": "sequences",
    "q_len": "query rows of each sequence",
    "kv_len": "keys of each sequence",
    "len_indptr": "batch + 1",
    "total_q": "query rows of all sequences together",
    "total_kv": "keys of all sequences together",
    "num_pages": "pages of the cache; more than are in use where lengths differ",
    "page_size": "keys of a page",
    "pages_per_seq": "columns of the page table",
    "q_heads": "query heads, a multiple of kv_heads",
    "kv_heads": "key and value heads; query head h reads head h / (q_heads / kv_heads)",
    "head_dim": "columns of q and k",
    "v_dim": "columns of v and o",
}
LAYOUT = {
    "dense": "Layout: batch x length x heads x columns.",
    "varlen": "Layout: sequences packed one behind the other (total x heads x columns), cumulative lengths beside them.",
    "paged": "Layout: q and o packed over the sequences (total_q x heads x columns), keys and values in pages that a page table names.",
}
VARIANT = {
    "": "",
    "sink": " A learned logit per query head joins the softmax's denominator and carries no value.",
    "leftpad": " The first leftpad[b] keys of sequence b do not exist.",
    "mla": " Absorbed latent attention: the values are the first v_dim columns of the one cache kv.",
}

TORCH_PAIR = '''import torch


def attend(q, k, v, scale, causal, left, right, softcap, first_key, sink):
    """One sequence: q (rows, heads, columns), k and v (keys, kv heads, columns), float64; first_key: leading keys that do not exist."""
    rows, heads = q.shape[0], q.shape[1]
    keys = k.shape[0]
    out = torch.zeros(rows, heads, v.shape[2], dtype=torch.float64, device=q.device)
    if keys == 0:
        return out
    group = heads // k.shape[1]
    logits = scale * torch.einsum("qhd,khd->hqk", q, k.repeat_interleave(group, dim=1))
    if softcap > 0:
        logits = softcap * torch.tanh(logits / softcap)
    # Bottom-right alignment: the last query row stands at the last key.
    position = torch.arange(rows, device=q.device)[:, None] + (keys - rows)
    key = torch.arange(keys, device=q.device)[None, :]
    visible = (key >= first_key).expand(rows, keys).clone()
    if causal:
        visible &= key <= position
    if right >= 0:
        visible &= key <= position + right
    if left >= 0:
        visible &= key >= position - left
    logits = logits.masked_fill(~visible, float("-inf"))
    peak = logits.amax(dim=-1, keepdim=True)
    if sink is not None:
        peak = torch.maximum(peak, sink.double()[:, None, None])
    peak = peak.masked_fill(peak == float("-inf"), 0.0)
    weights = torch.exp(logits - peak)
    total = weights.sum(dim=-1, keepdim=True)
    if sink is not None:
        total = total + torch.exp(sink.double()[:, None, None] - peak)
    total = total.masked_fill(total == 0.0, 1.0)  # a row without a visible key gives zeros
    return torch.einsum("hqk,khd->qhd", weights / total, v.repeat_interleave(group, dim=1))
'''


def torch_reference(kind):
    layout, q, kv, variant = kind
    names = [n for n, _ in tensors_of(kind)] + [n for n, _, _ in scalars_of(kind)]
    descaled = kv == "e4m3"
    lines = ["", "", "def run(%s):" % ", ".join(names)]
    add = lambda text: lines.append("    " + text)
    if layout == "dense":
        add("out = torch.zeros(q.shape[0], q.shape[1], q.shape[2], v.shape[3], dtype=torch.float64, device=q.device)")
        add("for b in range(q.shape[0]):")
        add("    rows = slice(None)")
        add("    queries, keys, values = q[b].double(), k[b].double(), v[b].double()")
    elif layout == "varlen":
        add("out = torch.zeros(q.shape[0], q.shape[1], v.shape[2], dtype=torch.float64, device=q.device)")
        add("for b in range(cu_seqlens_q.shape[0] - 1):")
        add("    rows = slice(int(cu_seqlens_q[b]), int(cu_seqlens_q[b + 1]))")
        add("    of_keys = slice(int(cu_seqlens_k[b]), int(cu_seqlens_k[b + 1]))")
        add("    queries, keys, values = q[rows].double(), k[of_keys].double(), v[of_keys].double()")
    else:
        cache = ("kv", "kv") if variant == "mla" else ("k", "v")
        if variant == "mla":
            add("v_dim = 512  # the axis of this name")
        add("out = torch.zeros(q.shape[0], q.shape[1], %s, dtype=torch.float64, device=q.device)"
            % ("v_dim" if variant == "mla" else "v.shape[3]"))
        add("for b in range(cu_seqlens_q.shape[0] - 1):")
        add("    rows = slice(int(cu_seqlens_q[b]), int(cu_seqlens_q[b + 1]))")
        add("    length = int(seqused_k[b])")
        add("    pages = page_table[b].long()")
        add("    queries = q[rows].double()")
        add("    keys = %s[pages].flatten(0, 1)[:length].double()" % cache[0])
        add("    values = %s" % ("keys[..., :v_dim]" if variant == "mla" else "v[pages].flatten(0, 1)[:length].double()"))
    if descaled:
        if q == "e4m3":
            add("    group = queries.shape[1] // keys.shape[1]")
            add("    queries = queries * q_descale[b].double().repeat_interleave(group)[None, :, None]")
        add("    keys = keys * k_descale[b].double()[None, :, None]")
        add("    values = values * v_descale[b].double()[None, :, None]")
    first = "int(leftpad[b])" if variant == "leftpad" else "0"
    target = "out[b]" if layout == "dense" else "out[rows]"
    add("    %s%s = attend(queries, keys, values, scale, causal, window_left, window_right, softcap, %s, %s)"
        % (target, "[rows]" if layout == "dense" else "", first, "sink" if variant == "sink" else "None"))
    add("return out.to(torch.%s)" % ("float16" if q == "fp16" else "bfloat16"))
    return TORCH_PAIR + "\n".join(lines) + "\n"


def tensors_of(kind):
    """Tensor inputs in order: (name, (shape, dtype, role, description))."""
    layout, q, kv, variant = kind
    q_rows = ["batch", "q_len"] if layout == "dense" else ["total_q"]
    kv_rows = {"dense": ["batch", "kv_len"], "varlen": ["total_kv"], "paged": ["num_pages", "page_size"]}[layout]
    out = [("q", (q_rows + ["q_heads", "head_dim"], DTYPES[q], "activation", "queries"))]
    if variant == "mla":
        out.append(("kv", (kv_rows + ["kv_heads", "head_dim"], DTYPES[kv], "activation", "keys; the first v_dim columns are the values")))
    else:
        out.append(("k", (kv_rows + ["kv_heads", "head_dim"], DTYPES[kv], "activation", "keys")))
        out.append(("v", (kv_rows + ["kv_heads", "v_dim"], DTYPES[kv], "activation", "values")))
    if variant == "sink":
        out.append(("sink", (["q_heads"], "bfloat16", "weight", "logit of each head's sink; scale and softcap do not apply to it")))
    if variant == "leftpad":
        out.append(("leftpad", (["batch"], "int32", "plan", "leading keys of each sequence that do not exist")))
    if layout != "dense":
        out.append(("cu_seqlens_q", (["len_indptr"], "int32", "plan", "first query row of each sequence; the last entry is total_q")))
    if layout == "varlen":
        out.append(("cu_seqlens_k", (["len_indptr"], "int32", "plan", "first key of each sequence; the last entry is total_kv")))
    if layout == "paged":
        out.append(("seqused_k", (["batch"], "int32", "plan", "keys of each sequence; may be 0")))
        out.append(("page_table", (["batch", "pages_per_seq"], "int32", "plan",
                                   "page of the keys [i * page_size, (i + 1) * page_size) of a sequence; every entry is a valid page, those past the length are not to be used")))
    if kv == "e4m3":
        if q == "e4m3":
            out.append(("q_descale", (["batch", "kv_heads"], "float32", "activation", "factor of the queries of a group of heads")))
        out.append(("k_descale", (["batch", "kv_heads"], "float32", "activation", "factor of the keys")))
        out.append(("v_descale", (["batch", "kv_heads"], "float32", "activation", "factor of the values")))
    return out


def scalars_of(kind):
    scalars = [
        ("scale", "float32", "factor of the logits"),
        ("causal", "bool", "row i of a sequence stands at position i + keys - rows and sees no later key"),
        ("window_left", "int64", "keys before its own position that a row sees; -1: no limit"),
        ("window_right", "int64", "keys after its own position that a row sees; -1: no limit"),
        ("softcap", "float32", "above 0: logits become softcap * tanh(logit / softcap)"),
    ]
    if kind[0] != "dense":
        scalars += [("max_q", "int64", "most query rows of a sequence"), ("max_k", "int64", "most keys of a sequence")]
    return scalars


def axes_of(kind):
    used = {axis for _, (shape, *_) in tensors_of(kind) for axis in shape} | {"batch", "v_dim"}
    return [axis for axis in AXES if axis in used]


def axis_of(axis, variant):
    fixed = {"head_dim": 576, "v_dim": 512}.get(axis) if variant == "mla" else None
    known = {"type": "var"} if fixed is None else {"type": "const", "value": fixed}
    return known | {"description": AXES[axis]}


def definition_of(kind):
    layout, q, kv, variant = kind
    inputs = {n: {"shape": s, "dtype": t, "description": text} for n, (s, t, _, text) in tensors_of(kind)}
    inputs |= {n: {"shape": None, "dtype": t, "description": text} for n, t, text in scalars_of(kind)}
    q_rows = ["batch", "q_len"] if layout == "dense" else ["total_q"]
    precision = {"bf16": "bfloat16", "fp16": "float16", "e4m3": "8-bit floats (e4m3) with descales, bfloat16 output"}[q]
    if kv != q:
        precision = "bfloat16 queries over 8-bit (e4m3) keys and values with descales"
    constraints = ["q_heads % kv_heads == 0"]
    if variant != "mla":  # whose axes are constants
        constraints.append("v_dim == head_dim or head_dim == 192 and v_dim == 128")
    if layout != "dense":
        constraints.append("len_indptr == batch + 1")
    if layout == "paged":
        constraints.append("num_pages >= batch * pages_per_seq")
    return {
        "name": name_of(kind),
        "op_type": "attention",
        "description": "Attention forward, %s. %s%s" % (precision, LAYOUT[layout], VARIANT[variant]),
        "tags": ["fused", "layout:" + layout],
        "axes": {axis: axis_of(axis, variant) for axis in axes_of(kind)},
        "constraints": constraints,
        "inputs": inputs,
        "outputs": {
            "o": {
                "shape": q_rows + ["q_heads", "v_dim"],
                "dtype": DTYPES["fp16" if q == "fp16" else "bf16"],
                "description": "softmax over the visible keys times their values; zeros for a row that sees no key",
            }
        },
        "reference": torch_reference(kind),
        "whet": {"roles": {n: role for n, (_, _, role, _) in tensors_of(kind)}, "nan": "forbid"},
    }


# ---- Workloads -------------------------------------------------------------------------------------------------------

def lengths(value, batch):
    return value if isinstance(value, list) else [value] * batch


def cumulative(values):
    sums = [0]
    for value in values:
        sums.append(sums[-1] + value)
    return sums


def visible(row, sq, sk, first):
    """(pairs, keys that at least one row sees) of one sequence."""
    left, right = row.get("window", [-1, -1])
    if row.get("causal"):
        right = 0 if right < 0 else min(right, 0)
    pairs, lowest, highest = 0, sk, -1
    for i in range(sq):
        at = i + sk - sq
        low = max(first, at - left) if left >= 0 else first
        high = min(sk - 1, at + right) if right >= 0 else sk - 1
        if high >= low:
            pairs += high - low + 1
            lowest, highest = min(lowest, low), max(highest, high)
    return pairs, max(0, highest - lowest + 1)


def floor_of(row, kind):
    """Operations and bytes that no Solution can avoid: the unmasked products; q, o, every visible key and value once, the plan."""
    sqs, sks = lengths(row["sq"], row["b"]), lengths(row["sk"], row["b"])
    pads = row.get("leftpad", [0] * row["b"])
    pairs = keys = pages = 0
    known = {}
    for triple in zip(sqs, sks, pads):
        if triple not in known:
            known[triple] = visible(row, *triple)
        pairs += known[triple][0]
        keys += known[triple][1]
        if "page" in row:
            pages += -(-known[triple][1] // row["page"])
    columns = row["d"] if row.get("absorbed") else row["d"] + row["dv"]
    rows = sum(sqs) * row["h"]
    plan = 4 * pages + (4 * (row["b"] + 1) if kind[0] != "dense" else 0)
    return {
        "flops": 2 * (row["d"] + row["dv"]) * pairs * row["h"],
        "bytes": rows * (row["d"] * BYTES[row["q"]] + row["dv"] * BYTES[row["out"]]) + keys * row["hk"] * columns * BYTES[row["kv"]] + plan,
    }


def scale_of(row):
    return (192 if row.get("absorbed") else row["d"]) ** -0.5


PEAK = 8  # what a planted element is, in standard deviations (record/recipe.h)


def spread_of(row):
    """The standard deviation of q and k. Each row of either has one planted element of 8 deviations, so a pair of rows whose planted
    columns agree (one in d) has a logit of +-64 s^2 scale. Logits then have a deviation of 3.5; under a softcap the heavy ones
    reach 0.7 of it, where its curvature shows."""
    d, scale = row["d"], scale_of(row)
    widened = 1 + (PEAK * PEAK - 1) / d
    square = 3.5 / (scale * d ** 0.5 * widened)
    if row.get("softcap"):
        square = max(square, 0.7 * row["softcap"] / (PEAK * PEAK * scale))
    return round(square ** 0.5, 3)


def sink_range(row):
    """Where the log-sum-exp of a row that sees many keys lies: a sink far below would change nothing, one far above all."""
    heavy = PEAK * PEAK * spread_of(row) ** 2 * scale_of(row)
    keys = min(max(lengths(row["sk"], row["b"])), row["window"][0] + 1 if "window" in row else 1 << 30)
    whole = heavy + math.log(max(1.0, keys / (2 * row["d"]))) + 1.5
    return {"kind": "uniform", "low": round(whole - 3, 1), "high": round(whole + 1, 1)}


def tolerance_of(row):
    """See README.md of the task: what an honest kernel of that precision needs, times two."""
    if row["q"] == "e4m3":
        bounds = {"rtol": 0.12, "atol": 0.12, "norm": 0.06}
    elif row.get("softcap"):
        bounds = {"rtol": 0.03, "atol": 0.03, "norm": 0.02}
    elif row["q"] == "fp16":
        bounds = {"rtol": 0.004, "atol": 0.004, "norm": 0.0015}
    else:
        bounds = {"rtol": 0.02, "atol": 0.02, "norm": 0.005}
    return bounds


def recipes_of(row, kind):
    s = spread_of(row)
    planted = {"kind": "planted", "scale": s, "peaks": 1}
    sqs, sks = lengths(row["sq"], row["b"]), lengths(row["sk"], row["b"])
    known = {
        "q": planted,
        "k": planted,
        "kv": planted,
        "v": {"kind": "normal", "scale": 1.0},
        "sink": sink_range(row),
        "leftpad": {"kind": "lengths", "lengths": row.get("leftpad")},
        "cu_seqlens_q": {"kind": "lengths", "lengths": cumulative(sqs)},
        "cu_seqlens_k": {"kind": "lengths", "lengths": cumulative(sks)},
        "seqused_k": {"kind": "lengths", "lengths": sks},
        "page_table": {"kind": "page_permutation"},
        "q_descale": {"kind": "uniform", "low": 0.75, "high": 1.25},
        "k_descale": {"kind": "uniform", "low": 0.75, "high": 1.25},
        "v_descale": {"kind": "uniform", "low": 0.5, "high": 1.5},
    }
    return {name: known[name] for name, _ in tensors_of(kind)}


def workload_of(row, smoke):
    kind = kind_of(row)
    sqs, sks = lengths(row["sq"], row["b"]), lengths(row["sk"], row["b"])
    pages = max(1, -(-max(sks) // row["page"])) if "page" in row else 0
    values = {
        "batch": row["b"], "q_len": max(sqs), "kv_len": max(sks), "len_indptr": row["b"] + 1, "total_q": sum(sqs), "total_kv": sum(sks),
        "num_pages": row["b"] * pages, "page_size": row.get("page", 0), "pages_per_seq": pages,
        "q_heads": row["h"], "kv_heads": row["hk"], "head_dim": row["d"], "v_dim": row["dv"],
    }
    left, right = row.get("window", [-1, -1])
    scalars = {
        "scale": scale_of(row), "causal": bool(row.get("causal")), "window_left": left, "window_right": right,
        "softcap": float(row.get("softcap", 0)), "max_q": max(sqs), "max_k": max(sks),
    }
    inputs = {name: {"type": "random"} for name, _ in tensors_of(kind)}
    inputs |= {name: {"type": "scalar", "value": scalars[name]} for name, _, _ in scalars_of(kind)}
    return {
        "definition": name_of(kind),
        "workload": {
            "uuid": str(uuid.uuid5(uuid.NAMESPACE_URL, "whet:attention-hopper/" + row["name"])),
            "axes": {axis: values[axis] for axis in axes_of(kind) if "value" not in axis_of(axis, kind[3])},
            "inputs": inputs,
            "whet": {
                "name": row["name"],
                "family": row["family"],
                "sets": ["full"] + sorted(row["sets"], reverse=True) + (["smoke"] if row["name"] in smoke else []),
                "tolerance": tolerance_of(row),
                "recipes": recipes_of(row, kind),
                "floor": floor_of(row, kind),
            },
        },
        "solution": None,
        "evaluation": None,
    }


def rows_of(path):
    return [json.loads(line) for line in path.read_text().splitlines() if line.strip()]


def files():
    rows = rows_of(GRID)
    smallest = {}  # of each Definition, by its operations
    for row in rows:
        pairs = sum(q * k for q, k in zip(lengths(row["sq"], row["b"]), lengths(row["sk"], row["b"])))
        size = pairs * row["h"] * (row["d"] + row["dv"])
        best = smallest.get(kind_of(row))
        if size > 1e6 and (best is None or size < best[0]):
            smallest[kind_of(row)] = (size, row["name"])
    smoke = {name for _, name in smallest.values()}
    out = {}
    for kind in KINDS:
        own = [row for row in rows if kind_of(row) == kind]
        out[TASK / "definitions" / (name_of(kind) + ".json")] = json.dumps(definition_of(kind), indent=1) + "\n"
        out[TASK / "workloads" / (name_of(kind) + ".jsonl")] = "".join(json.dumps(workload_of(row, smoke)) + "\n" for row in own)
    small = rows_of(SMALL)
    out[ROOT / "tests" / "attention_hopper" / "small_workloads.jsonl"] = "".join(json.dumps(workload_of(row, {})) + "\n" for row in small)
    unknown = {kind_of(row) for row in rows + small} - set(KINDS)
    if unknown:
        raise SystemExit("%s: no Definition for %s; add the kind to KINDS" % (GRID, sorted(unknown)))
    return out


def main():
    check = sys.argv[1:] == ["--check"]
    if sys.argv[1:] and not check:
        raise SystemExit(__doc__)
    stale = []
    for target, text in files().items():
        if target.exists() and target.read_text() == text:
            continue
        stale.append(str(target.relative_to(ROOT)))
        if not check:
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text(text)
    if check and stale:
        raise SystemExit("not what the grid gives: %s; run tools/make_attention_hopper.py" % ", ".join(stale))


main()
