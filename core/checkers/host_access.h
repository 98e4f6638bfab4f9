// SPDX-License-Identifier: Apache-2.0
// memcheck: detects direct access of the program to device memory, which the host of an NPU cannot
// reach.
#pragma once

namespace softnpu::checkers {

// Makes device memory inaccessible to the program. A direct access is reported and ends the process
// with kHostAccessStatus.
void watch_host_access();

// Puts the handler of such accesses in front of one that the program has installed since.
void watch_faults();

constexpr int kHostAccessStatus = 87;

}  // namespace softnpu::checkers
