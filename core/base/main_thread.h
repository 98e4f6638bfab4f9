// SPDX-License-Identifier: Apache-2.0
// Tells the main thread from the others.
#pragma once

#include <unistd.h>

namespace softnpu {

// Whether the calling thread is the one that the program, or the forked child, began with.
inline bool is_main_thread() { return gettid() == getpid(); }

}  // namespace softnpu
