// SPDX-License-Identifier: Apache-2.0
#include "base/fork.h"

#include <pthread.h>

#include <atomic>
#include <memory>

namespace softnpu {
namespace {

struct ProcessLock {
  void* mutex;
  LockRank rank;
  void (*lock)(void* mutex);
  void (*unlock)(void* mutex);
  void (*renew)(void* mutex);
  const ProcessLock* next;
};

// Only ever grows, at its head, and without a lock of its own, which a fork() could find held.
std::atomic<const ProcessLock*> all_locks{nullptr};
// What a fork() has locked, set while it holds them. Locks that were added since come before it.
const ProcessLock* locked = nullptr;

void before_fork() {
  const ProcessLock* const first = all_locks.load(std::memory_order_acquire);
  for (const LockRank rank : {LockRank::outermost, LockRank::outer, LockRank::inner})
    for (const ProcessLock* each = first; each != nullptr; each = each->next)
      if (each->rank == rank) each->lock(each->mutex);
  locked = first;
}

void after_fork_in_parent() {
  for (const ProcessLock* each = locked; each != nullptr; each = each->next)
    each->unlock(each->mutex);
}

// The thread has another number in the child than the one that it locked under, so that a
// std::shared_mutex would take an unlock() for a reader's.
void after_fork_in_child() {
  for (const ProcessLock* each = locked; each != nullptr; each = each->next)
    each->renew(each->mutex);
}

void add_fork_handlers() {
  [[maybe_unused]] static const int once =
      pthread_atfork(before_fork, after_fork_in_parent, after_fork_in_child);
}

template <class Mutex>
void add_lock(Mutex& mutex, LockRank rank) {
  add_fork_handlers();
  auto* const added = new ProcessLock{
      &mutex,
      rank,
      [](void* m) { static_cast<Mutex*>(m)->lock(); },
      [](void* m) { static_cast<Mutex*>(m)->unlock(); },
      [](void* m) { std::construct_at(static_cast<Mutex*>(m)); },
      all_locks.load(std::memory_order_relaxed),
  };
  while (!all_locks.compare_exchange_weak(added->next, added, std::memory_order_release)) {
  }
}

}  // namespace

void keep_free_over_fork(std::mutex& mutex, LockRank rank) { add_lock(mutex, rank); }
void keep_free_over_fork(std::shared_mutex& mutex, LockRank rank) { add_lock(mutex, rank); }

}  // namespace softnpu
