// SPDX-License-Identifier: Apache-2.0
// The interpreter's verbs for functions of the program's in streams, and for graphs.
#pragma once

#include <pthread.h>
#include <unistd.h>

#include "interpreter.h"

// What a function of the program's does in its turn: a blocking copy, unless it only sleeps.
struct Errand {
  std::byte *to, *from;
  size_t count;
  std::atomic<int>* ran;
  aclrtContext context;

  static void run(void* object) {
    const std::unique_ptr<Errand> self(static_cast<Errand*>(object));
    usleep(300);
    if (self->count > 0) {
      must(aclrtSetCurrentContext(self->context), "errand");
      must(aclrtMemcpy(self->to, self->count, self->from, self->count, ACL_MEMCPY_DEFAULT),
           "errand");
    }
    ++*self->ran;
  }
};

inline int Section::call_back(const std::string& verb) {
  if (verb == "subscribe") {
    const int slot = next();
    ran_[slot] = std::make_unique<std::atomic<int>>(0);
    stop_[slot] = std::make_unique<std::atomic<bool>>(false);
    std::thread& thread = subscribers_[slot] = std::thread([&stop = *stop_[slot]] {
      while (!stop) aclrtProcessReport(20);
    });
    return aclrtSubscribeReport(thread.native_handle(), streams_.at(slot));
  }
  if (verb == "unsubscribe") {
    const int slot = next();
    const int status =
        aclrtUnSubscribeReport(subscribers_.at(slot).native_handle(), streams_.at(slot));
    *stop_.at(slot) = true;
    subscribers_.at(slot).join();
    return status;
  }
  // Waits until all functions of a stream have run, as programs do, without the device.
  if (verb == "join") {
    const int slot = next(), count = next();
    while (*ran_[slot] < count) usleep(50);
    return 0;
  }
  if (verb == "hostfunc" || verb == "callback" || verb == "callback-blocks") {
    const int slot = next();
    auto& ran = ran_[slot];
    if (!ran) ran = std::make_unique<std::atomic<int>>(0);
    auto errand = std::make_unique<Errand>();
    errand->ran = ran.get();
    must(aclrtGetCurrentContext(&errand->context), verb);
    errand->count = next<size_t>();
    if (errand->count > 0) {
      errand->to = place();
      errand->from = place();
    }
    aclrtStream const where = slot < 0 ? nullptr : streams_.at(slot);
    if (verb == "hostfunc") return aclrtLaunchHostFunc(where, &Errand::run, errand.release());
    return aclrtLaunchCallback(&Errand::run, errand.release(),
                               verb == "callback" ? ACL_CALLBACK_NO_BLOCK : ACL_CALLBACK_BLOCK,
                               where);
  }
  return -1;
}

inline int Section::replay(const std::string& verb) {
  if (verb == "capture") {
    aclrtStream const where = stream();
    return aclmdlRICaptureBegin(where, static_cast<aclmdlRICaptureMode>(next()));
  }
  if (verb == "captured") {
    const int slot = next();
    return aclmdlRICaptureEnd(stream(), &graphs_[slot]);
  }
  if (verb == "execute") {
    const int slot = next();
    return aclmdlRIExecuteAsync(graphs_.at(slot), stream());
  }
  if (verb == "ungraph") return aclmdlRIDestroy(graphs_.at(next()));
  return -1;
}
