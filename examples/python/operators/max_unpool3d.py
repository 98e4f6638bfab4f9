# SPDX-License-Identifier: Apache-2.0
import numpy as np

import softnpu

values = np.array([5, 6, 7, 8], np.float32).reshape(1, 1, 1, 2, 2)
places = np.array([0, 3, 9, 14]).reshape(1, 1, 1, 2, 2)  # in the 1 x 4 x 4 volume
print(softnpu.max_unpool3d(values, places, (1, 4, 4), (1, 2, 2), (0, 0, 0))[0, 0, 0])
