// SPDX-License-Identifier: Apache-2.0
// The events of which the device notifies its observers: logs, traces, checkers. The device knows
// this interface and nothing else of them.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <new>
#include <string_view>
#include <vector>

#include "base/call.h"
#include "base/dtype.h"
#include "base/export.h"
#include "base/status.h"

namespace softnpu {

enum class HandleKind : uint8_t;
namespace runtime {
enum class Family : uint8_t;
}

// The elements that a piece of work reads or writes.
struct Access {
  const char* name;  // the argument, as documented
  bool writes;
  std::byte* first;              // the view's first element
  DType dtype;                   // U8 where bytes are meant
  std::vector<int64_t> sizes;    // in elements
  std::vector<int64_t> strides;  // in elements
  // The tensor's handle; null for a plain address.
  const void* tensor = nullptr;
};

// An operator, a copy, a fill or a function of the program's, as it was launched.
struct Piece {
  enum class Kind : uint8_t { kernel, copy, fill, host_function };

  Kind kind;
  std::string_view what;         // the documented function, a literal
  int32_t stream = kHostThread;  // its id, or that the caller waits for it outside of streams
  std::vector<Access> accesses = {};
  const void* executor = nullptr;

  static constexpr int32_t kHostThread = -1;
};

// Where captured work stands: how much of each stream's, by the stream's id, comes before it.
struct CapturedPlace {
  const void* graph;  // a handle
  std::map<int32_t, uint64_t> before;
};

// Every function may be called by several threads at a time. Nothing may throw but
// std::bad_alloc, and nothing may call the C API.
class Observer {
 public:
  virtual ~Observer() = default;

  // A C function begins and ends, on the calling thread. Whatever comes in between is part of it.
  virtual void enter(const Call&) {}
  virtual void leave(const Call&, const Status&) {}

  // After it was allocated; before it is released.
  virtual void allocated(runtime::Family, const std::byte*, size_t) {}
  virtual void releasing(runtime::Family, const std::byte*, size_t) {}
  // The memory just allocated was in use before, and has kept its contents.
  virtual void kept(const std::byte*, size_t) {}
  virtual void created(HandleKind, const void* /*handle*/) {}
  virtual void destroyed(HandleKind, const void* /*handle*/) {}

  // The least workspace that every operator asks for.
  virtual uint64_t least_workspace() const { return 0; }

  // Work was recorded instead of put into its stream. What it is launched as later is other pieces.
  virtual void captured(const Piece&, const CapturedPlace&) {}
  // Work was put into a stream, begins, and ends. What the caller waits for begins at once.
  virtual void launched(const Piece&) {}
  virtual void started(const Piece&) {}
  virtual void finished(const Piece&, const Status&) {}

  // A mark stands for one recording of an event; null where the event was never recorded.
  virtual void recorded(const void* /*mark*/, int32_t /*stream*/) {}
  virtual void held_back(int32_t /*stream*/, const void* /*mark*/) {}
  // The calling thread knows now that a mark was reached, or that all work of a stream is done.
  virtual void saw_mark(const void* /*mark*/) {}
  virtual void saw_end(int32_t /*stream*/) {}
  // The calling thread runs a callback that its stream waits for, whose launch was recorded as a
  // mark; and has run it.
  virtual void calling(const void* /*mark*/) {}
  virtual void called() {}

  // The process ends, and the program has run all its handlers. May come more than once.
  virtual void ending() {}
};

namespace detail {
struct Observers {
  std::atomic<size_t> count{0};
  std::array<Observer*, 16> all{};
};
SOFTNPU_EXPORT extern Observers observers;

template <class F>
[[gnu::cold, gnu::noinline]] void for_each_observer(const F& f) noexcept {
  const size_t count = observers.count.load(std::memory_order_acquire);
  for (size_t i = 0; i < count; ++i) {
    try {
      f(*observers.all[i]);
    } catch (const std::bad_alloc&) {  // the observer misses this event
    }
  }
}
}  // namespace detail

inline bool is_observed() { return detail::observers.count.load(std::memory_order_acquire) > 0; }

// Notifies all observers, in the order in which they were added: notify(&Observer::launched,
// piece).
template <class... Parameters, class... Arguments>
void notify(void (Observer::*event)(Parameters...), const Arguments&... arguments) noexcept {
  if (is_observed()) [[unlikely]]
    detail::for_each_observer([&](Observer& each) { (each.*event)(arguments...); });
}

// The largest workspace that an observer asks for.
SOFTNPU_EXPORT uint64_t least_workspace();

// Adds an observer, which must live as long as the process.
SOFTNPU_EXPORT void observe(Observer& another);

}  // namespace softnpu
