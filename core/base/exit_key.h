// SPDX-License-Identifier: Apache-2.0
// What each thread keeps until its end. A pthread key, because the C library ends the process if it
// has no memory to register the destructor of a thread_local.
#pragma once

#include <pthread.h>

namespace softnpu {

// kEnd gets what a thread has kept, when it ends.
template <void (*kEnd)(void*)>
class ExitKey {
 public:
  ExitKey() : exists_(pthread_key_create(&key_, kEnd) == 0) {}

  void* kept() const { return exists_ ? pthread_getspecific(key_) : nullptr; }
  // Returns false if it cannot be kept: then kEnd does not get it.
  bool keep(void* mine) const { return exists_ && pthread_setspecific(key_, mine) == 0; }

 private:
  pthread_key_t key_ = 0;
  bool exists_;
};

}  // namespace softnpu
