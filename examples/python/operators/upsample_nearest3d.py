# SPDX-License-Identifier: Apache-2.0
import numpy as np

import softnpu

x = np.array([[1, 2], [3, 4]], np.float32).reshape(1, 1, 1, 2, 2)
print(softnpu.upsample_nearest3d(x, (1, 4, 5))[0, 0, 0])
