// SPDX-License-Identifier: Apache-2.0
// memcheck, the program's own access to device memory, which an NPU's host cannot reach.
#pragma once

namespace softnpu::checkers {

// Protects device memory from the program. A read or write of it is reported, and ends the process
// with kHostAccessStatus.
void watch_host_access();

constexpr int kHostAccessStatus = 87;

}  // namespace softnpu::checkers
