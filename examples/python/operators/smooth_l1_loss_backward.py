# SPDX-License-Identifier: Apache-2.0
import numpy as np

import softnpu

prediction = np.array([0, 0.5, 3], np.float32)
target = np.zeros(3, np.float32)
grad = np.ones((), np.float32)  # of the loss, a single number
print(softnpu.smooth_l1_loss_backward(grad, prediction, target, "mean", beta=2))
