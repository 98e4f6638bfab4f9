// SPDX-License-Identifier: Apache-2.0
// memcheck: detects direct access of the program to device memory, which the host of an NPU cannot
// reach.
#pragma once

#include "base/observer.h"

namespace softnpu::checkers {

// Makes device memory inaccessible to the program. A direct access is reported and ends the process
// with kHostAccessStatus.
void watch_host_access();

// Puts the handler of such accesses in front of one that the program has installed since.
void watch_faults();

// Keeps the handler in front where no library is preloaded that does (core/explain/checked.cpp).
class FaultWatcher final : public Observer {
 public:
  void enter(const Call&) override { watch_faults(); }
};

constexpr int kHostAccessStatus = 87;

}  // namespace softnpu::checkers
