// SPDX-License-Identifier: Apache-2.0
// Locks that a forked child finds free.
#pragma once

#include <cstdint>
#include <mutex>
#include <shared_mutex>

#include "base/export.h"

namespace softnpu {

// fork() copies locks as they are, but of the threads only the one that called it: what another
// one held would stay locked in the child for ever. So the locks of state that the whole process
// shares are taken around a fork(), outer ones first, and the child finds them free. That costs
// calls nothing.
enum class LockRank : uint8_t {
  outermost,  // its holders take locks of the other ranks
  outer,      // its holders take inner ones, and no other outer one
  inner,      // its holders take no lock of these ranks
};

// `mutex` must live as long as the process.
SOFTNPU_EXPORT void keep_free_over_fork(std::mutex& mutex, LockRank rank = LockRank::inner);
SOFTNPU_EXPORT void keep_free_over_fork(std::shared_mutex& mutex, LockRank rank = LockRank::inner);

}  // namespace softnpu
