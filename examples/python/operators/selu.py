# SPDX-License-Identifier: Apache-2.0
import numpy as np

import softnpu

print(softnpu.selu(np.array([-2, -0.5, 0, 1.5], np.float32)))
print(softnpu.selu(np.array([-2, -1, 0, 100], np.int8)))
