# SPDX-License-Identifier: Apache-2.0
import numpy as np

import softnpu

grad = np.arange(16, dtype=np.float32).reshape(1, 1, 1, 4, 4)
values = np.zeros((1, 1, 1, 2, 2), np.float32)  # only its shape counts
places = np.array([0, 3, 9, 14]).reshape(1, 1, 1, 2, 2)
print(softnpu.max_unpool3d_backward(grad, values, places, (1, 4, 4), (1, 2, 2), (0, 0, 0)))
