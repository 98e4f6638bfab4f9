// SPDX-License-Identifier: Apache-2.0
// Streams: queues with a handle, an owner and settings of their own.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "base/export.h"
#include "base/status.h"
#include "runtime/deadline.h"
#include "runtime/queue.h"
#include "runtime/work.h"

namespace softnpu::runtime {

// Runs or queues `task` on the stream; null is the current context's default stream. `what` is the
// caller's function, a literal. The returned status is about the launch. The stream keeps a failure
// of the task, prefixed with `what`, and its next synchronisation reports it. `piece` describes the
// task for observers, and is needed only if there are any.
SOFTNPU_EXPORT Status launch(void* stream_handle, std::string_view what, Task task,
                             std::shared_ptr<Piece> piece = nullptr);
// The same for a host function, which runs on a thread of the library.
SOFTNPU_EXPORT Status launch_host_function(void* stream_handle, std::string_view what, Task task);
// The same for work that waits for other processes.
SOFTNPU_EXPORT Status launch_on_own_thread(void* stream_handle, std::string_view what, Task task,
                                           std::shared_ptr<Piece> piece);

class Stream : public Queue {
 public:
  Stream(std::shared_ptr<Owner> owner, uint32_t priority, uint32_t flags, bool is_default);

  void* handle() const { return handle_; }
  uint32_t priority() const { return priority_; }
  uint32_t flags() const { return flags_; }
  bool is_default() const { return is_default_; }
  // Whether new work must be offered to a capture first.
  bool is_captured() const { return captured_.load(std::memory_order_acquire); }
  void set_captured(bool captured) { captured_.store(captured, std::memory_order_release); }

 private:
  friend std::shared_ptr<Stream> make_stream(std::shared_ptr<Owner>, uint32_t, uint32_t, bool);
  void* handle_ = nullptr;
  uint32_t priority_;
  uint32_t flags_;
  bool is_default_;
  std::atomic<bool> captured_{false};
};

// Null if there are too many streams.
std::shared_ptr<Stream> make_stream(std::shared_ptr<Owner> owner, uint32_t priority, uint32_t flags,
                                    bool is_default);

// The stream behind a handle, which must belong to the calling thread's context.
SOFTNPU_EXPORT Status find_stream(const void* handle, std::shared_ptr<Stream>& out);
// The same for queries, which accept streams of any context, even a destroyed one.
SOFTNPU_EXPORT Status find_stream_anywhere(const void* handle, std::shared_ptr<Stream>& out);

SOFTNPU_EXPORT Status create_stream(uint32_t priority, uint32_t flags, void** out);
enum class Destroy : uint8_t { finish_work, drop_work };
SOFTNPU_EXPORT Status destroy_stream(const void* handle, Destroy how);
SOFTNPU_EXPORT Status synchronize_stream(const void* handle, Deadline deadline);

struct Remains {
  Status failure;  // the first one that no call has reported
  int others = 0;  // the number of other streams with a failure
  size_t dropped = 0;

  void add(Stream& stream, size_t dropped_work);
  // Returns the failure, with the number of others. Dropped work is added to the thread's message.
  Status report(std::string_view function) const;
};

// What happens to work that waits for a callback which no thread has run.
enum class Held : uint8_t { awaited, dropped };

// Finishes a stream's work. Work that waits for the calling thread itself is dropped.
void finish(Stream& stream, Held held, Remains& remains);
// The same, and retires the stream: its callbacks are no longer awaited.
void retire(Stream& stream, Held held, Remains& remains);

std::vector<std::shared_ptr<Stream>> streams_of(const Owner& owner);
std::vector<std::shared_ptr<Stream>> streams_of_device(int32_t device);
// All streams, for the end of the process; none if another thread is changing the list.
std::vector<std::shared_ptr<Stream>> streams_at_exit();
std::vector<std::shared_ptr<Stream>> all_streams();

}  // namespace softnpu::runtime
