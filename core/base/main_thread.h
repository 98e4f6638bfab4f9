// SPDX-License-Identifier: Apache-2.0
// Distinguishes the main thread.
#pragma once

#include <unistd.h>

namespace softnpu {

// Whether the calling thread is the first one of the program or of the forked child.
inline bool is_main_thread() { return gettid() == getpid(); }

}  // namespace softnpu
