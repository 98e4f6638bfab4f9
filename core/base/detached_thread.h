// SPDX-License-Identifier: Apache-2.0
// Threads of the library's own.
#pragma once

#include "base/export.h"

namespace softnpu {

// Calls body(object) in a new thread, which has room for every kernel however low the limit on
// stacks is. False where no thread can be had.
SOFTNPU_EXPORT bool start_detached(void* (*body)(void* object), void* object);

// The same for a member function without arguments.
template <auto body, class T>
bool start_detached(T* object) {
  return start_detached(
      [](void* it) -> void* {
        (static_cast<T*>(it)->*body)();
        return nullptr;
      },
      object);
}

}  // namespace softnpu
