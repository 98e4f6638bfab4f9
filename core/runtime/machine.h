// SPDX-License-Identifier: Apache-2.0
// How much memory this machine has.
#pragma once

#include <cstddef>

namespace softnpu::runtime {

// The limit of this process: the machine's memory, or its control group's limit if that is lower.
size_t memory_limit();

}  // namespace softnpu::runtime
