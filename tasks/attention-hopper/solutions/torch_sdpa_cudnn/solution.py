# SPDX-License-Identifier: Apache-2.0
"""The operator of scaled_dot_product_attention's cuDNN backend. Its causal mask is aligned top-left, so it is used where that is the same; key heads are shared, never
repeated. cuDNN chooses its plan at the first call of a shape, which is in prepare()."""
import torch
import whet

cudnn = torch.ops.aten._scaled_dot_product_cudnn_attention
whet.note("aten::_scaled_dot_product_cudnn_attention (cuDNN %s)" % torch.backends.cudnn.version())


def attend(q, k, v, scale, causal):
    heads_first = [tensor.transpose(1, 2) for tensor in (q, k, v)]
    # No bias, no log-sum-exp, no dropout, no debug mask.
    return cudnn(*heads_first, None, False, 0.0, causal, False, scale=scale)[0].transpose(1, 2)


def prepare(q, k, v, scale, causal, left, right, softcap, o):
    if softcap > 0:
        raise whet.Unsupported("a softcap")
    if left >= 0 or right >= 0:
        raise whet.Unsupported("a window")
    rows, keys = q.shape[1], k.shape[1]
    if causal and rows > 1 and rows != keys:
        raise whet.Unsupported("a causal mask over %d rows and %d keys: through torch it is aligned top-left" % (rows, keys))
    if keys == 0:
        raise whet.Unsupported("no keys")
    try:
        attend(q, k, v, scale, causal and rows > 1)
    except RuntimeError as error:
        if "CUDA error" in str(error):
            raise
        raise whet.Unsupported("torch: " + str(error).splitlines()[0]) from error


def run(q, k, v, scale, causal, left, right, softcap):
    # One row stands at the last key and sees them all.
    return attend(q, k, v, scale, causal and q.shape[1] > 1)
