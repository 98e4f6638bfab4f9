// SPDX-License-Identifier: Apache-2.0
// Keeps locks and thread pools usable in a forked child.
#pragma once

#include <pthread.h>

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <shared_mutex>

#include "base/export.h"
#include "base/lasting.h"

namespace softnpu {

// fork() copies locks as they are, but of the threads only the one that called it: what another
// one held would stay locked in the child for ever. So the locks of state that the whole process
// shares are acquired around a fork(), outer ones first, and the child finds them free. That costs
// calls nothing.
enum class LockRank : uint8_t {
  outermost,  // its holders take locks of the other ranks
  outer,      // its holders take inner ones, and no other outer one
  inner,      // its holders take innermost ones at most
  innermost,  // its holders take no lock of these ranks
};

// `mutex` must live as long as the process.
SOFTNPU_EXPORT void keep_free_over_fork(std::mutex& mutex, LockRank rank = LockRank::inner);
SOFTNPU_EXPORT void keep_free_over_fork(std::shared_mutex& mutex, LockRank rank = LockRank::inner);

// Locks that are not one mutex.
struct ForkLock {
  void* object;  // must live as long as the process
  LockRank rank;
  void (*lock)(void* object);
  void (*unlock)(void* object);
  void (*renew)(void* object);  // in the child, instead of unlock
};
SOFTNPU_EXPORT void keep_free_over_fork(const ForkLock& lock);

template <class T>
struct OfThisProcess {
  OfThisProcess() {
    pthread_atfork(nullptr, nullptr, [] { lasting<OfThisProcess>.made.store(nullptr); });
  }
  std::atomic<T*> made{nullptr};
};

// The T of this process, which has threads of its own: made when first needed, and never destroyed,
// since the threads may outlive static destructors. A forked child, which has none of them, gets
// another T.
template <class T>
T& of_this_process() {
  std::atomic<T*>& made = lasting<OfThisProcess<T>>.made;
  T* current = made.load(std::memory_order_acquire);
  if (current != nullptr) return *current;
  auto fresh = std::make_unique<T>();
  if (made.compare_exchange_strong(current, fresh.get())) return *fresh.release();
  return *current;
}

}  // namespace softnpu
