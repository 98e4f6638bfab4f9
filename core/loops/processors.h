// SPDX-License-Identifier: Apache-2.0
// Linux may queue a woken thread on its waker's CPU although another is idle, until the scheduler
// rebalances milliseconds later. The functions here migrate the waker.
#pragma once

#include <sys/types.h>

namespace softnpu::loops {

// The calling thread's id, which the system is asked for once.
pid_t this_thread();
void forget_this_thread();  // in a forked child, whose thread has another id

// If that thread of this process waits for the calling thread's CPU, migrates the calling thread to
// another one, provided it may use at least `processors`. Its affinity does not change.
void step_aside_for(pid_t thread, int processors);

}  // namespace softnpu::loops
