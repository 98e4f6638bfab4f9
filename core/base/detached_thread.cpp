// SPDX-License-Identifier: Apache-2.0
#include "base/detached_thread.h"

#include <pthread.h>

#include <algorithm>
#include <cstddef>

namespace softnpu {

bool start_detached(void* (*body)(void* object), void* object) {
  constexpr size_t kLeastStack = size_t{1} << 20;
  pthread_attr_t attributes;
  if (pthread_attr_init(&attributes) != 0) return false;
  size_t stack = 0;
  pthread_attr_getstacksize(&attributes, &stack);
  pthread_attr_setstacksize(&attributes, std::max(stack, kLeastStack));
  pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
  pthread_t thread;
  const bool started = pthread_create(&thread, &attributes, body, object) == 0;
  pthread_attr_destroy(&attributes);
  return started;
}

}  // namespace softnpu
