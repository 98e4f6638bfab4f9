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

// Runs or queues `task` on the stream; null means the current context's default stream. `what`
// names the caller's function and must be a literal. The returned status is about the launch. A
// failure of the task itself is kept by the stream, prefixed with `what`, and reported once by its
// next synchronisation.
// `piece` is what observers are told of it, and needed only where there are any.
SOFTNPU_EXPORT Status launch(void* stream_handle, std::string_view what, Task task,
                             std::shared_ptr<Piece> piece = nullptr);
// The same for a function of the program's, which runs on a thread of the library's own.
SOFTNPU_EXPORT Status launch_host_function(void* stream_handle, std::string_view what, Task task);

class Stream : public Queue {
 public:
  Stream(std::shared_ptr<Owner> owner, uint32_t priority, uint32_t flags, bool is_default);

  void* handle() const { return handle_; }
  uint32_t priority() const { return priority_; }
  uint32_t flags() const { return flags_; }
  bool is_default() const { return is_default_; }
  // Whether what is launched is to be offered to its capture first.
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

// Null when there are too many streams.
std::shared_ptr<Stream> make_stream(std::shared_ptr<Owner> owner, uint32_t priority, uint32_t flags,
                                    bool is_default);

// The stream behind a handle that the calling thread may use: of its current context.
SOFTNPU_EXPORT Status find_stream(const void* handle, std::shared_ptr<Stream>& out);
// The same for questions about a stream, which may belong to any context, even a destroyed one.
SOFTNPU_EXPORT Status find_stream_anywhere(const void* handle, std::shared_ptr<Stream>& out);

SOFTNPU_EXPORT Status create_stream(uint32_t priority, uint32_t flags, void** out);
enum class Destroy : uint8_t { finish_work, drop_work };
SOFTNPU_EXPORT Status destroy_stream(const void* handle, Destroy how);
SOFTNPU_EXPORT Status synchronize_stream(const void* handle, Deadline deadline);

// Failures and dropped work of streams that went out of use.
struct Remains {
  Status failure;  // the first that no call has reported
  int others = 0;  // streams that had one, too
  size_t dropped = 0;

  void add(Stream& stream, size_t dropped_work);
  // The failure, which counts the others. Work that was dropped goes into the thread's message.
  Status report(std::string_view function) const;
};

// How to treat work that waits for a callback that no thread has run yet.
enum class Held : uint8_t { awaited, dropped };

// Finishes a stream's work. What waits for the calling thread itself is dropped.
void finish(Stream& stream, Held held, Remains& remains);
// The same, takes the stream out of use, and ends the wait for its callbacks.
void retire(Stream& stream, Held held, Remains& remains);

// The streams of a context, or of all contexts of a device.
std::vector<std::shared_ptr<Stream>> streams_of(const Owner& owner);
std::vector<std::shared_ptr<Stream>> streams_of_device(int32_t device);
// All streams, for the end of the process: none where another thread is changing the list.
std::vector<std::shared_ptr<Stream>> streams_at_exit();
std::vector<std::shared_ptr<Stream>> all_streams();

}  // namespace softnpu::runtime
