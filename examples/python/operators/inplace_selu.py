# SPDX-License-Identifier: Apache-2.0
import numpy as np

import softnpu

x = np.array([-2, -0.5, 0, 1.5], np.float32)
softnpu.selu_(x)
print(x)
