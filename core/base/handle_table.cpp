// SPDX-License-Identifier: Apache-2.0
#include "base/handle_table.h"

#include <pthread.h>

#include <atomic>
#include <iterator>
#include <memory>

#include "base/text.h"

namespace softnpu {
namespace {

// By kind; they all take "an".
constexpr const char* kNames[] = {
    nullptr,         "aclTensor",    "aclScalar",     "aclIntArray",
    "aclFloatArray", "aclBoolArray", "aclTensorList", "aclScalarList",
    "aclOpExecutor", "aclrtContext", "aclrtStream",   "aclrtEvent",
};

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
  for (const LockRank rank : {LockRank::outer, LockRank::inner})
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

std::string describe_handle(const void* handle, HandleKind wanted) {
  if (handle == nullptr) return "a null pointer";
  const HandleKind kind = HandleBits::unpack(handle).kind;
  const auto index = static_cast<size_t>(kind);
  if (index == 0 || index >= std::size(kNames)) return "no handle of softnpu";
  if (kind != wanted) return text("an ", kNames[index]);
  const bool is_executor = kind == HandleKind::executor;
  return text(is_executor ? "a consumed or destroyed " : "a destroyed ", kNames[index]);
}

std::string not_live(std::string_view argument, const void* handle, HandleKind wanted) {
  return text(argument, " is ", describe_handle(handle, wanted), "; expected a live ",
              kNames[static_cast<size_t>(wanted)]);
}

}  // namespace softnpu
