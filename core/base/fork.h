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

// fork() copies locks in their current state, but only the thread that called it: a lock that
// another thread held would stay locked in the child for ever. So the locks of process-wide state
// are acquired before a fork(), outer ones first, and the child reinitialises them. Ordinary calls
// pay nothing for this.
enum class LockRank : uint8_t {
  outermost,  // its holders may take locks of the other ranks
  outer,      // its holders may take inner locks, but no other outer one
  inner,      // its holders may take innermost locks only
  innermost,  // its holders take no lock of these ranks
};

struct ForkLock {
  void* object;  // must live as long as the process
  LockRank rank;
  void (*lock)(void* object);
  void (*unlock)(void* object);
  void (*renew)(void* object);  // called in the child instead of unlock
};
SOFTNPU_EXPORT void add_fork_lock(const ForkLock& lock);

// `state` must live as long as the process.
template <class T>
void keep_free_over_fork(T& state, LockRank rank) {
  add_fork_lock({&state, rank, [](void* it) { static_cast<T*>(it)->lock_for_fork(); },
                 [](void* it) { static_cast<T*>(it)->unlock_after_fork(); },
                 [](void* it) { static_cast<T*>(it)->renew_in_forked_child(); }});
}

template <LockRank rank = LockRank::inner, class Mutex = std::mutex>
struct ProcessMutex : Mutex {
  ProcessMutex() { keep_free_over_fork(*this, rank); }

  void lock_for_fork() { this->lock(); }
  void unlock_after_fork() { this->unlock(); }
  // Not unlock(): the thread id differs in the child, and std::shared_mutex would take an unlock()
  // by another thread for a reader's.
  void renew_in_forked_child() { std::construct_at(static_cast<Mutex*>(this)); }
};

template <class T>
struct OfThisProcess {
  OfThisProcess() {
    pthread_atfork(nullptr, nullptr, [] { lasting<OfThisProcess>.made.store(nullptr); });
  }
  std::atomic<T*> made{nullptr};
};

// The T of this process, for objects that own threads: created when first needed, and never
// destroyed, because its threads may outlive static destructors. A forked child, which has none of
// the threads, gets a new T.
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
