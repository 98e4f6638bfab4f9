// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kernels/selu.h"

namespace softnpu::kernels {

using SeluBackwardNumbers = SeluNumbers;

}  // namespace softnpu::kernels
