# SPDX-License-Identifier: Apache-2.0
import numpy as np

import softnpu

x = np.array([-2, -0.5, 0, 1.5], np.float32)
print(softnpu.elu(x))
print(softnpu.elu(x, alpha=0.5))
