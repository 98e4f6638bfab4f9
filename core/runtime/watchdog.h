// SPDX-License-Identifier: Apache-2.0
// Runs deferred work after a while even if nobody waits for it, because programs may poll memory
// without a call.
#pragma once

namespace softnpu::runtime {

// Restarts the time. Called when the program makes a call that lets deferred work run.
void note_activity();

// Stops the time while the object lives.
class Activity {
 public:
  Activity();
  ~Activity();
  Activity(const Activity&) = delete;
  Activity& operator=(const Activity&) = delete;
};

// Starts a thread that allows all work if there was no activity for kStallTime, and stalled work
// after a multiple of this time in any case. Returns false if no thread can be started.
bool start_watchdog();

}  // namespace softnpu::runtime
