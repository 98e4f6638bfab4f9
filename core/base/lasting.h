// SPDX-License-Identifier: Apache-2.0
// What a process has one of, and keeps: programs call at exit, too, from any thread.
//
// Not the statics of functions. One thread makes those while others wait, and a forked child in
// which that thread is missing would wait for ever; so would a thread that holds Python's GIL,
// which making them may need.
#pragma once

#include <atomic>

namespace softnpu {

// Made when the library is loaded; one for each type. So that its locks are known before any
// fork().
template <class T>
inline T& lasting = *new T;

// What make() returned first, at the first call: for what programs may set until then. Threads that
// come at the same time may make one each, of which all get the same.
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
