// SPDX-License-Identifier: Apache-2.0
#include "runtime/callback_threads.h"

#include <cxxabi.h>

#include <condition_variable>
#include <deque>
#include <exception>
#include <mutex>
#include <utility>

#include "base/detached_thread.h"
#include "base/fork.h"
#include "base/tuning.h"
#include "runtime/context.h"
#include "runtime/scheduler.h"

namespace softnpu::runtime {
namespace {

class CallbackThreads {
 public:
  bool run(const std::shared_ptr<Queue>& queue) {
    const std::lock_guard lock(mutex_);
    if (ready_.size() >= idle_ && threads_ < kMaxCallbackThreads &&
        start_detached<&CallbackThreads::serve>(this)) {
      ++threads_;
      ++idle_;
    }
    if (threads_ == 0) return false;
    ready_.push_back(queue);
    arrived_.notify_one();
    return true;
  }

 private:
  [[noreturn]] void serve() {
    std::unique_lock lock(mutex_);
    for (;;) {
      arrived_.wait(lock, [this] { return !ready_.empty(); });
      auto queue = std::move(ready_.front());
      ready_.pop_front();
      --idle_;
      lock.unlock();
      make_current(queue->owner());
      try {
        queue->run(Queue::kAll, Queue::Runner::callback_thread);
      } catch (const abi::__forced_unwind&) {  // pthread_exit() in a host function
        lock.lock();
        --threads_;
        lock.unlock();
        scheduler().on_ready(std::move(queue));
        throw;
      }
      queue.reset();
      lock.lock();
      ++idle_;
    }
  }

  std::mutex mutex_;
  std::condition_variable arrived_;
  std::deque<std::shared_ptr<Queue>> ready_;
  size_t threads_ = 0;
  size_t idle_ = 0;  // includes threads that were just started
};

}  // namespace

bool run_on_callback_thread(const std::shared_ptr<Queue>& queue) noexcept {
  try {
    return of_this_process<CallbackThreads>().run(queue);
  } catch (const std::exception&) {  // std::bad_alloc
    return false;
  }
}

}  // namespace softnpu::runtime
