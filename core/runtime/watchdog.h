// SPDX-License-Identifier: Apache-2.0
// Programs may read memory until work has written there, without a call. So deferred work does not
// wait for ever.
#pragma once

namespace softnpu::runtime {

// A program has made a call that lets deferred work run, so that the time begins anew.
void note_activity();

// The same for as long as the object lives.
class Activity {
 public:
  Activity();
  ~Activity();
  Activity(const Activity&) = delete;
  Activity& operator=(const Activity&) = delete;
};

// Starts a thread that allows all work when nothing was noted for kStallTime, and work that has
// waited many times as long in any case. False where there is no thread for it.
bool start_watchdog();

}  // namespace softnpu::runtime
