// SPDX-License-Identifier: Apache-2.0
// Contexts, and which of them each thread uses.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "base/export.h"
#include "base/status.h"
#include "runtime/stream.h"
#include "runtime/system_params.h"

namespace softnpu::runtime {

// The default context of a device lives while the device is set; others until they are destroyed.
class Context {
 public:
  Context(std::shared_ptr<Owner> owner, std::shared_ptr<Stream> default_stream, bool is_default)
      : owner_(std::move(owner)),
        default_stream_(std::move(default_stream)),
        is_default_(is_default) {}

  void* handle() const { return owner_->context; }
  int32_t device() const { return owner_->device; }
  bool is_default() const { return is_default_; }
  const std::shared_ptr<Owner>& owner() const { return owner_; }
  const std::shared_ptr<Stream>& default_stream() const { return default_stream_; }
  SystemParams& params() { return params_; }

 private:
  std::shared_ptr<Owner> owner_;
  std::shared_ptr<Stream> default_stream_;
  bool is_default_;
  SystemParams params_;
};

// Null if there are too many contexts or streams.
std::shared_ptr<Context> make_context(int32_t device, bool is_default);

// Finishes or drops the work of the context's streams, and retires the context and its default
// stream. Streams that the program created keep their handles, so that it can still destroy them.
// The caller lists `streams` in advance, because that may fail.
void retire(Context& context, const std::vector<std::shared_ptr<Stream>>& streams, Held held,
            Remains& remains);

// Whether the calling thread is running work of one of the context's streams.
bool runs_on_this_thread(const Context& context);

SOFTNPU_EXPORT Status create_context(int32_t device, void** out);
SOFTNPU_EXPORT Status destroy_context(const void* handle);

// The calling thread's context. Fails if it has none, or if that is destroyed.
SOFTNPU_EXPORT Status current_context(std::shared_ptr<Context>& out);
// Fails if the calling thread has no context.
SOFTNPU_EXPORT Status require_device();
void* current_context_handle();
void make_current(const Owner& owner);
SOFTNPU_EXPORT Status set_current_context(const void* handle);

}  // namespace softnpu::runtime
