// SPDX-License-Identifier: Apache-2.0
// Keeps locks and thread pools usable in a forked child.
#pragma once

#include <pthread.h>

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>

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

struct ForkLock {
  void* object;  // must live as long as the process
  LockRank rank;
  void (*lock)(void* object);
  void (*unlock)(void* object);
  void (*renew)(void* object);  // in the child, instead of unlock
};
SOFTNPU_EXPORT void add_fork_lock(const ForkLock& lock);

// `state` must live as long as the process.
template <class T>
void keep_free_over_fork(T& state, LockRank rank) {
  add_fork_lock({&state, rank, [](void* it) { static_cast<T*>(it)->lock_for_fork(); },
                 [](void* it) { static_cast<T*>(it)->unlock_after_fork(); },
                 [](void* it) { static_cast<T*>(it)->renew_in_forked_child(); }});
}

// A mutex of state that the whole process shares.
template <LockRank rank = LockRank::inner, class Mutex = std::mutex>
struct ProcessMutex : Mutex {
  ProcessMutex() { keep_free_over_fork(*this, rank); }

  void lock_for_fork() { this->lock(); }
  void unlock_after_fork() { this->unlock(); }
  // The thread has another number in the child than the one that it locked under, so that a
  // std::shared_mutex would take an unlock() for a reader's.
  void renew_in_forked_child() { std::construct_at(static_cast<Mutex*>(this)); }
};

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
