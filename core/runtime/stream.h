// SPDX-License-Identifier: Apache-2.0
// Streams: queues with a handle, an owner and settings of their own.
#pragma once

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
SOFTNPU_EXPORT Status launch(void* stream_handle, std::string_view what, Task task);

class Stream : public Queue {
 public:
  Stream(std::shared_ptr<Owner> owner, uint32_t priority, uint32_t flags, bool is_default);

  void* handle() const { return handle_; }
  int32_t id() const { return id_; }
  uint32_t priority() const { return priority_; }
  uint32_t flags() const { return flags_; }
  bool is_default() const { return is_default_; }

 private:
  friend std::shared_ptr<Stream> make_stream(std::shared_ptr<Owner>, uint32_t, uint32_t, bool);
  void* handle_ = nullptr;
  int32_t id_;
  uint32_t priority_;
  uint32_t flags_;
  bool is_default_;
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

// Takes a stream out of use after its work is done. Work that waits for the calling thread itself
// is dropped, and no thread waits for the stream's callbacks any more.
void retire(Stream& stream);

// The streams of a context, or of all contexts of a device.
std::vector<std::shared_ptr<Stream>> streams_of(const Owner& owner);
std::vector<std::shared_ptr<Stream>> streams_of_device(int32_t device);

}  // namespace softnpu::runtime
