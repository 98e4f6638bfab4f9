// SPDX-License-Identifier: Apache-2.0
#include "base/fork.h"

#include <pthread.h>

#include <atomic>

namespace softnpu {
namespace {

struct ProcessLock {
  ForkLock lock;
  const ProcessLock* next;
};

// A list that only grows, at its head, without a lock: a fork() could find a lock held.
std::atomic<const ProcessLock*> all_locks{nullptr};
// The locks that a fork() holds. Locks added since then come before it in the list.
const ProcessLock* locked = nullptr;

void before_fork() {
  const ProcessLock* const first = all_locks.load(std::memory_order_acquire);
  for (const LockRank rank :
       {LockRank::outermost, LockRank::outer, LockRank::inner, LockRank::innermost})
    for (const ProcessLock* each = first; each != nullptr; each = each->next)
      if (each->lock.rank == rank) each->lock.lock(each->lock.object);
  locked = first;
}

void after_fork_in_parent() {
  for (const ProcessLock* each = locked; each != nullptr; each = each->next)
    each->lock.unlock(each->lock.object);
}

void after_fork_in_child() {
  for (const ProcessLock* each = locked; each != nullptr; each = each->next)
    each->lock.renew(each->lock.object);
}

void add_fork_handlers() {
  [[maybe_unused]] static const int once =
      pthread_atfork(before_fork, after_fork_in_parent, after_fork_in_child);
}

}  // namespace

void add_fork_lock(const ForkLock& lock) {
  add_fork_handlers();
  auto* const added = new ProcessLock{lock, all_locks.load(std::memory_order_relaxed)};
  while (!all_locks.compare_exchange_weak(added->next, added, std::memory_order_release)) {
  }
}

}  // namespace softnpu
