// SPDX-License-Identifier: Apache-2.0
#include "base/observer.h"

#include <algorithm>
#include <memory>
#include <mutex>
#include <new>

#include "base/fork.h"
#include "base/lasting.h"

namespace softnpu {

std::atomic<Observer*> detail::the_observer{nullptr};

namespace {

// Tells two, in the order in which they came. One that finds no memory misses what it was told.
class Both final : public Observer {
 public:
  Both(Observer& first, Observer& second) : first_(first), second_(second) {}

  void enter(const Call& call) override { tell(&Observer::enter, call); }
  void leave(const Call& call, const Status& status) override {
    tell(&Observer::leave, call, status);
  }
  void allocated(runtime::Family family, const std::byte* base, size_t size) override {
    tell(&Observer::allocated, family, base, size);
  }
  void releasing(runtime::Family family, const std::byte* base, size_t size) override {
    tell(&Observer::releasing, family, base, size);
  }
  void kept(const std::byte* base, size_t size) override { tell(&Observer::kept, base, size); }
  void created(HandleKind kind, const void* handle) override {
    tell(&Observer::created, kind, handle);
  }
  void destroyed(HandleKind kind, const void* handle) override {
    tell(&Observer::destroyed, kind, handle);
  }
  uint64_t least_workspace() const override {
    return std::max(first_.least_workspace(), second_.least_workspace());
  }
  void captured(const Piece& piece, const CapturedPlace& place) override {
    tell(&Observer::captured, piece, place);
  }
  void launched(const Piece& piece) override { tell(&Observer::launched, piece); }
  void started(const Piece& piece) override { tell(&Observer::started, piece); }
  void finished(const Piece& piece, const Status& status) override {
    tell(&Observer::finished, piece, status);
  }
  void recorded(const void* mark, int32_t stream) override {
    tell(&Observer::recorded, mark, stream);
  }
  void held_back(int32_t stream, const void* mark) override {
    tell(&Observer::held_back, stream, mark);
  }
  void saw_mark(const void* mark) override { tell(&Observer::saw_mark, mark); }
  void saw_end(int32_t stream) override { tell(&Observer::saw_end, stream); }
  void calling(const void* mark) override { tell(&Observer::calling, mark); }
  void called() override { tell(&Observer::called); }
  void ending() override { tell(&Observer::ending); }

 private:
  template <class... Parameters, class... Arguments>
  void tell(void (Observer::*event)(Parameters...), const Arguments&... arguments) {
    for (Observer* const each : {&first_, &second_}) {
      try {
        (each->*event)(arguments...);
      } catch (const std::bad_alloc&) {
      }
    }
  }

  Observer& first_;
  Observer& second_;
};

struct Joining {
  Joining() { keep_free_over_fork(mutex); }

  std::mutex mutex;
};

}  // namespace

void observe(Observer& another) {
  std::lock_guard lock(lasting<Joining>.mutex);
  Observer* const before = observer();
  // Never released: a thread may be telling it something.
  Observer* const now = before == nullptr ? &another : new Both(*before, another);
  detail::the_observer.store(now, std::memory_order_release);
}

}  // namespace softnpu
