# SPDX-License-Identifier: Apache-2.0
"""The operators as functions on arrays: NumPy, own outputs, bfloat16, errors, PyTorch."""

import ml_dtypes
import numpy as np

import softnpu

try:
    import torch
except ImportError:
    torch = None


def main():
    """Call a few operators and print what they return."""
    x = np.array([[-2, -1], [0, 1]], np.float32)

    print("NumPy arrays in, a NumPy array out:")
    print(softnpu.elu_backward(x, 1, 1, 1, is_result=True, self_or_result=x))

    print("\nInto memory of one's own, here every other column of a larger array:")
    wide = np.zeros((2, 4), np.float32)
    softnpu.selu_backward(np.ones_like(x), x, out=wide[:, ::2])
    print(wide)

    print("\nbfloat16; the mean of the loss; one gradient for all elements:")
    prediction = np.arange(4).astype(ml_dtypes.bfloat16)
    target = np.ones(4, ml_dtypes.bfloat16)
    one = np.ones((), ml_dtypes.bfloat16)
    print(softnpu.smooth_l1_loss_backward(one, prediction, target, "mean", beta=1.0))

    print("\nA broken rule raises what the C API would report:")
    try:
        softnpu.selu_backward(x, x[0])
    except softnpu.ParamInvalidError as error:
        print(f"{error.name} ({error.status}): {error}")

    if torch is not None:
        print("\nPyTorch tensors in, a PyTorch tensor out:")
        grad = torch.ones(1, 1, 2, 2, 2)
        print(softnpu.upsample_nearest3d_backward(grad, (2, 2, 2), (1, 1, 1, 1, 1)))


if __name__ == "__main__":
    main()
