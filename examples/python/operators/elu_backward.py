# SPDX-License-Identifier: Apache-2.0
import numpy as np

import softnpu

x = np.array([-2, -0.5, 0, 1.5], np.float32)
y = softnpu.elu(x)
grad = np.ones_like(x)
print(softnpu.elu_backward(grad, 1, 1, 1, is_result=False, self_or_result=x))
print(softnpu.elu_backward(grad, 1, 1, 1, is_result=True, self_or_result=y))
