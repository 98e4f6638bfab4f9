// SPDX-License-Identifier: Apache-2.0
// The everyday operators: those of operators/everyday/, which no vendor document describes.
#pragma once

#include "described/operator.h"

namespace softnpu::everyday {

using described::Operator;

SOFTNPU_EXPORT extern const Operator kOperators[];

}  // namespace softnpu::everyday
