# SPDX-License-Identifier: Apache-2.0
"""The operator below scaled_dot_product_attention's flash backend, which takes what that function does not hand on: its causal mask is aligned top-left and refused
where lengths differ, that of the kernels is bottom-right; windows and packed sequences are theirs too. Key heads are shared, never repeated."""
import torch
import whet

flash = torch.ops.aten._flash_attention_forward
whet.note("aten::_flash_attention_forward (FlashAttention-2)")


def arguments(q, k, v, rest):
    """Of the operator, after the tensors: (positional, keywords)."""
    if q.dim() == 3:
        cu_q, cu_k, scale, causal, left, right, softcap, max_q, max_k = rest
    else:
        scale, causal, left, right, softcap = rest
        cu_q = cu_k = None
        max_q, max_k = q.shape[1], k.shape[1]
    if softcap > 0:
        raise whet.Unsupported("a softcap")
    if v.shape[-1] != q.shape[-1]:
        raise whet.Unsupported("values of %d columns with keys of %d" % (v.shape[-1], q.shape[-1]))
    if causal:
        right = 0
    whole = left < 0 and right < 0
    return (cu_q, cu_k, max_q, max_k, 0.0, left < 0 and right == 0, False), {"scale": scale, "window_size_left": None if whole else left, "window_size_right": None if whole else right}


def prepare(q, k, v, *rest):
    rest = rest[:-1]  # the output
    positional, keywords = arguments(q, k, v, rest)
    try:
        flash(q, k, v, *positional, **keywords)
    except RuntimeError as error:
        if "CUDA error" in str(error):
            raise
        raise whet.Unsupported("torch: " + str(error).splitlines()[0]) from error


def run(q, k, v, *rest):
    positional, keywords = arguments(q, k, v, rest)
    return flash(q, k, v, *positional, **keywords)[0]
