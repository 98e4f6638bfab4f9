// SPDX-License-Identifier: Apache-2.0
#include "reporter.h"

#include <pthread.h>

#include <condition_variable>
#include <mutex>
#include <thread>

#include "acl/acl.h"

namespace fuzz {
namespace {

struct Reporter {
  std::mutex mutex;
  std::condition_variable changed;
  bool is_wanted = false;
  bool is_resting = true;
  std::thread thread{[this] { serve(); }};

  void serve() {
    std::unique_lock lock(mutex);
    for (;;) {
      is_resting = true;
      changed.notify_all();
      changed.wait(lock, [this] { return is_wanted; });
      is_resting = false;
      lock.unlock();
      // Not counted: without a subscription it fails at once, again and again.
      if (aclrtProcessReport(1) != 0) std::this_thread::yield();
      lock.lock();
    }
  }
};

// As long as the process, which it does not keep from ending.
Reporter& reporter() {
  static Reporter& the_one = *new Reporter;
  return the_one;
}

}  // namespace

uint64_t wake_reporter() {
  Reporter& r = reporter();
  const std::lock_guard lock(r.mutex);
  r.is_wanted = true;
  r.changed.notify_all();
  return static_cast<uint64_t>(r.thread.native_handle());
}

void rest_reporter() {
  Reporter& r = reporter();
  std::unique_lock lock(r.mutex);
  r.is_wanted = false;
  r.changed.wait(lock, [&r] { return r.is_resting; });
}

}  // namespace fuzz
