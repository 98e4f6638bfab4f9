// SPDX-License-Identifier: Apache-2.0
// The events that the device reports to its observers: logs, traces, checkers. The device knows
// only this interface.
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
  DType dtype;                   // U8 for plain bytes
  std::vector<int64_t> sizes;    // in elements
  std::vector<int64_t> strides;  // in elements
  // The tensor's handle; null for a plain address.
  const void* tensor = nullptr;
};

// An operator, a copy, a fill or a host function, as it was launched.
struct Piece {
  enum class Kind : uint8_t { kernel, copy, fill, host_function };

  Kind kind;
  std::string_view what;         // the documented function, a literal
  int32_t stream = kHostThread;  // its id, or kHostThread if the caller waits, outside of streams
  std::vector<Access> accesses = {};
  const void* executor = nullptr;
  bool everyday = false;  // an operator that no vendor document describes
  // When work began that is reported after it has run, in nanoseconds of CLOCK_MONOTONIC.
  int64_t began = 0;

  static constexpr int32_t kHostThread = -1;
};

// A message of the program's (aclAppLog), and the place of its call.
struct AppMessage {
  int32_t level;  // an aclLogLevel
  const char* function;
  const char* file;
  uint32_t line;
  const char* text;
};

// The position of captured work: for each stream, by id, how much of its work comes before.
struct CapturedPlace {
  const void* graph;  // a handle
  std::map<int32_t, uint64_t> before;
};

// Any function may be called by several threads at once. It may throw only std::bad_alloc, and must
// not call the C API.
class Observer {
 public:
  virtual ~Observer() = default;

  // A C function begins and ends on the calling thread. All events in between belong to it.
  virtual void enter(const Call&) {}
  virtual void leave(const Call&, const Status&) {}

  virtual void said(const AppMessage&) {}

  // After it was allocated; before it is released.
  virtual void allocated(runtime::Family, const std::byte*, size_t) {}
  virtual void releasing(runtime::Family, const std::byte*, size_t) {}
  // The memory just allocated was in use before and has kept its contents.
  virtual void kept(const std::byte*, size_t) {}
  // A library with an allocator of its own hands out memory that it has allocated: for the first
  // time, or anew, and then the contents are undefined again. The library frees it.
  virtual void handed_out(const std::byte*) {}
  virtual void created(HandleKind, const void* /*handle*/) {}
  // A library keeps the handle for its own use, until the process ends.
  virtual void kept_by_library(const void* /*handle*/) {}
  virtual void destroyed(HandleKind, const void* /*handle*/) {}

  // The minimum workspace that every operator requests.
  virtual uint64_t least_workspace() const { return 0; }

  // Work was recorded instead of being put into its stream. Each later launch is reported as
  // another piece.
  virtual void captured(const Piece&, const CapturedPlace&) {}
  // Work was put into a stream, begins, and ends. Work that the caller waits for begins at once.
  virtual void launched(const Piece&) {}
  virtual void started(const Piece&) {}
  virtual void finished(const Piece&, const Status&) {}

  // The caller says in which direction a copy goes, by an aclrtMemcpyKind.
  virtual void copies(const void* /*dst*/, const void* /*src*/, int32_t /*kind*/) {}

  // A mark is one recording of an event; null if the event was never recorded.
  virtual void recorded(const void* /*mark*/, int32_t /*stream*/) {}
  virtual void held_back(int32_t /*stream*/, const void* /*mark*/) {}
  // A stream will make the event forget this recording.
  virtual void resetting(const void* /*mark*/) {}
  // The calling thread now knows that a mark was reached, or that all work of a stream is done.
  virtual void saw_mark(const void* /*mark*/) {}
  // It knows that all streams which were held back by a mark have passed it.
  virtual void saw_waits(const void* /*mark*/) {}
  virtual void saw_end(int32_t /*stream*/) {}
  // The calling thread begins and ends a callback that its stream waits for. The callback's launch
  // was recorded as a mark.
  virtual void calling(const void* /*mark*/) {}
  virtual void called() {}

  // The process ends after all of the program's exit handlers. May be called more than once.
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

SOFTNPU_EXPORT uint64_t least_workspace();

// Adds an observer, which must live as long as the process.
SOFTNPU_EXPORT void observe(Observer& another);

}  // namespace softnpu
