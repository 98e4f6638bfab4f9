// SPDX-License-Identifier: Apache-2.0
// Process-wide singletons that are never destroyed, because programs may call during exit, from any
// thread.
//
// They are not function-local statics. A thread holds a guard while it makes one of those: the
// guard could stay locked in a forked child, and making it may need Python's GIL, which a waiting
// thread may hold.
#pragma once

#include <atomic>

namespace softnpu {

// Made when the library is loaded; one for each type. So that its locks are known before any
// fork().
template <class T>
inline T& lasting = *new T;

// The result of make() at the first call, because programs may change the environment until then.
// Several threads may call make() at the same time, but all get the same object.
template <auto make>
auto& made_once() {
  using T = decltype(make());
  static constinit std::atomic<T*> kept{nullptr};
  T* first = kept.load(std::memory_order_acquire);
  if (first != nullptr) return *first;
  T* const mine = new T(make());
  if (kept.compare_exchange_strong(first, mine, std::memory_order_acq_rel)) return *mine;
  delete mine;
  return *first;
}

}  // namespace softnpu
