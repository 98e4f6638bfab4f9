// SPDX-License-Identifier: Apache-2.0
// Threads that are woken may have to wait for the processor of the one that woke them, while
// another is idle: until the system looks again, which is milliseconds later.
#pragma once

#include <sys/types.h>

namespace softnpu::loops {

// The calling thread's number, for which the system is asked once.
pid_t this_thread();
void forget_this_thread();  // in the child of a fork, whose only thread has another number

// Where that thread of this process waits for the calling thread's processor, the calling one goes
// to another, if it may use so many. Nothing of what it may use changes.
void step_aside_for(pid_t thread, int processors);

}  // namespace softnpu::loops
