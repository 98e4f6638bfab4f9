# SPDX-License-Identifier: Apache-2.0
import numpy as np

import softnpu

prediction = np.array([0, 0.5, 3], np.float32)
target = np.zeros(3, np.float32)
print(softnpu.smooth_l1_loss(prediction, target, "none"))
print(softnpu.smooth_l1_loss(prediction, target, "mean", beta=2))
