// SPDX-License-Identifier: Apache-2.0
// The library's own threads.
#pragma once

#include "base/export.h"

namespace softnpu {

// Calls body(object) in a new thread. Its stack is large enough for every kernel, whatever the
// stack limit is. Returns false if no thread can be started.
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
