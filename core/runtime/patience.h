// SPDX-License-Identifier: Apache-2.0
// Programs may look at memory until work has written there, without a call. So work that schedulers
// hold back does not wait for ever.
#pragma once

namespace softnpu::runtime {

// Says that a program does something for which the work is held back, so that patience begins anew.
void note_activity();

// The same for as long as it lasts.
class Activity {
 public:
  Activity();
  ~Activity();
  Activity(const Activity&) = delete;
  Activity& operator=(const Activity&) = delete;
};

// Has a thread permit all work when nothing was noted for kPatience, and work that has waited many
// times as long in any case. False where no thread can be had.
bool watch_patiently();

}  // namespace softnpu::runtime
