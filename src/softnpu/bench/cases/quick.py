# SPDX-License-Identifier: Apache-2.0
"""The cases that a change is checked with: some of every class, at most 1M elements, a minute."""

_ELU = "elu_backward"
_SELU = "selu_backward"
_SMOOTH = "smooth_l1_loss_backward"
_LOSS = "smooth_l1_loss"
_UPSAMPLE = "upsample_nearest3d_backward"
_UPSAMPLE_FORWARD = "upsample_nearest3d"
_UNPOOL = "max_unpool3d_backward"
_UNPOOL_FORWARD = "max_unpool3d"

QUICK = frozenset(
    (
        f"{_ELU}/exp/float32/contiguous/64K",
        f"{_ELU}/exp/float32/contiguous/1M",
        f"{_ELU}/exp/float16/contiguous/1M",
        f"{_ELU}/result/float32/contiguous/1M",
        f"{_SELU}/float32/contiguous/64K",
        f"{_SELU}/float32/contiguous/1M",
        f"{_SELU}/bfloat16/contiguous/1M",
        f"{_SMOOTH}/float32/contiguous/64K",
        f"{_SMOOTH}/float32/contiguous/1M",
        f"{_SMOOTH}/float16/contiguous/1M",
        f"{_SMOOTH}/float32/rows/1M",
        f"{_SMOOTH}/float32/columns/1M",
        f"{_SMOOTH}/mean/float32/scalar/1M",
        f"{_ELU}/exp/float32/transposed/64K",
        f"{_ELU}/exp/float32/transposed/1M",
        f"{_SELU}/float32/channels-last/1M",
        f"{_ELU}/exp/float32/sliced/1M",
        f"{_SELU}/bfloat16/transposed/1M",
        f"{_SMOOTH}/float32/transposed/64K",
        f"{_SMOOTH}/float32/channels-last/1M",
        f"{_SMOOTH}/float32/sliced/1M",
        f"{_LOSS}/none/float32/contiguous/1M",
        f"{_LOSS}/mean/float32/contiguous/1M",
        f"{_LOSS}/mean/bfloat16/contiguous/1M",
        f"{_LOSS}/mean/float32/transposed/1M",
        f"{_ELU}/exp/float32/out-transposed/1M",
        f"{_SMOOTH}/float32/out-sliced/1M",
        f"{_ELU}/exp/float16-to-float32/contiguous/1M",
        f"{_SMOOTH}/float16-float32-to-float32/contiguous/1M",
        f"{_UPSAMPLE}/x2/float32/ncdhw/64K",
        f"{_UPSAMPLE}/x2/float32/ncdhw/1M",
        f"{_UPSAMPLE}/x2/bfloat16/ncdhw/1M",
        f"{_UPSAMPLE}/x2/float32/ndhwc/1M",
        f"{_UPSAMPLE}/x1.5/float32/ndhwc/64K",
        f"{_UPSAMPLE_FORWARD}/x2/float32/ncdhw/64K",
        f"{_UPSAMPLE_FORWARD}/x1.5/float32/ncdhw/1M",
        f"{_UPSAMPLE_FORWARD}/x2/float32/ndhwc/1M",
        f"{_UNPOOL}/pooling/float32/contiguous/64K",
        f"{_UNPOOL}/sorted/float32/contiguous/1M",
        f"{_UNPOOL}/random/float16/contiguous/1M",
        f"{_UNPOOL_FORWARD}/pooling/float32/contiguous/1M",
        "elu/float32/contiguous/1M",
        "selu/bfloat16/contiguous/1M",
        "elu/float32/transposed/1M",
        f"{_ELU}/exp/float32/numpy/16",
        f"{_ELU}/exp/float32/torch/16",
        f"{_ELU}/exp/float32/c-api/16",
        f"{_SMOOTH}/float32/torch/16",
        f"{_UPSAMPLE}/x2/float32/torch/16",
        f"{_UNPOOL}/pooling/float32/numpy/16",
    )
)
