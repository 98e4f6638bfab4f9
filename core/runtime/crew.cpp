// SPDX-License-Identifier: Apache-2.0
#include "runtime/crew.h"

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

class Crew {
 public:
  bool take_up(const std::shared_ptr<Queue>& queue) {
    const std::lock_guard lock(mutex_);
    if (ready_.size() >= idle_ && threads_ < kMostHosts && start_detached<&Crew::serve>(this)) {
      ++threads_;
      ++idle_;
    }
    if (threads_ == 0) return false;
    ready_.push_back(queue);
    came_.notify_one();
    return true;
  }

 private:
  [[noreturn]] void serve() {
    std::unique_lock lock(mutex_);
    for (;;) {
      came_.wait(lock, [this] { return !ready_.empty(); });
      auto queue = std::move(ready_.front());
      ready_.pop_front();
      --idle_;
      lock.unlock();
      make_current(queue->owner());
      try {
        queue->run_ready(Queue::kAll, true);
      } catch (const abi::__forced_unwind&) {  // pthread_exit() in a host function
        lock.lock();
        --threads_;
        lock.unlock();
        scheduler().resumed(std::move(queue));
        throw;
      }
      queue.reset();
      lock.lock();
      ++idle_;
    }
  }

  std::mutex mutex_;
  std::condition_variable came_;
  std::deque<std::shared_ptr<Queue>> ready_;
  size_t threads_ = 0;
  size_t idle_ = 0;  // of them; those that have just been started, too
};

}  // namespace

bool crew_takes_up(const std::shared_ptr<Queue>& queue) noexcept {
  try {
    return of_this_process<Crew>().take_up(queue);
  } catch (const std::exception&) {  // std::bad_alloc
    return false;
  }
}

}  // namespace softnpu::runtime
