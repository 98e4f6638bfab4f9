# SPDX-License-Identifier: Apache-2.0
"""float64 definitions of the operators, one file each.

They are what the documents' formulas say, evaluated in float64 with NumPy: slow, short, and meant
to be read. The tests compare the device's results with them after one rounding, which `round_to`
does.
"""

from .elu import elu
from .elu_backward import elu_backward
from .max_unpool3d import max_unpool3d
from .max_unpool3d_backward import max_unpool3d_backward
from .rounding import round_to
from .selu import selu
from .selu_backward import selu_backward
from .smooth_l1_loss import smooth_l1_loss
from .smooth_l1_loss_backward import smooth_l1_loss_backward
from .upsample_nearest3d import upsample_nearest3d
from .upsample_nearest3d_backward import upsample_nearest3d_backward

__all__ = [
    "elu",
    "elu_backward",
    "max_unpool3d",
    "max_unpool3d_backward",
    "round_to",
    "selu",
    "selu_backward",
    "smooth_l1_loss",
    "smooth_l1_loss_backward",
    "upsample_nearest3d",
    "upsample_nearest3d_backward",
]
