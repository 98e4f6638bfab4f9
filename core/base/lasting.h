// SPDX-License-Identifier: Apache-2.0
// Process-wide singletons that are never destroyed, because programs may call during exit, from any
// thread.
//
// They are not function-local statics, whose initialisation holds a guard: the guard could stay
// locked in a forked child, and initialisation may need Python's GIL while another thread holds the
// GIL and waits for the guard.
#pragma once

#include <atomic>

namespace softnpu {

// One object for each type, created when the library is loaded, so that its locks are registered
// before any fork().
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
