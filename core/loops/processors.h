// SPDX-License-Identifier: Apache-2.0
// Linux may queue a woken thread on its waker's CPU although another is idle, until the scheduler
// rebalances, milliseconds later. The waker then migrates.
#pragma once

#include <sys/types.h>

namespace softnpu::loops {

// The calling thread's number, for which the system is asked once.
pid_t this_thread();
void forget_this_thread();  // in the child of a fork, whose only thread has another number

// If that thread of this process waits for the calling thread's CPU, the calling one migrates to
// another, provided that it may use at least `processors`. Its affinity stays as it was.
void step_aside_for(pid_t thread, int processors);

}  // namespace softnpu::loops
