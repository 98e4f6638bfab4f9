// SPDX-License-Identifier: Apache-2.0
// The memory of this machine.
#pragma once

#include <cstddef>

namespace softnpu::runtime {

// The memory limit of this process: the machine's memory, or its control group's limit if that is
// lower.
size_t memory_limit();

}  // namespace softnpu::runtime
