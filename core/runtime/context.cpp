// SPDX-License-Identifier: Apache-2.0
#include "runtime/context.h"

#include "base/fault_injection.h"
#include "base/handle_table.h"
#include "base/lasting.h"
#include "runtime/device.h"

namespace softnpu::runtime {
namespace {

using Contexts = HandleTable<Context, HandleKind::context>;

Contexts& contexts() { return lasting<Contexts>; }

// A handle instead of a pointer: another thread may destroy the context, and programs may call
// while this thread's objects are being destroyed.
thread_local constinit void* current = nullptr;

Status no_such_context(const void* handle) {
  return fail(handle == nullptr ? "handle-null"_rule : "context-dead"_rule,
              handle == nullptr ? kRtParamInvalid : kRtInvalidHandle,
              not_live("context", handle, HandleKind::context));
}

}  // namespace

std::shared_ptr<Context> make_context(int32_t device, bool is_default) {
  auto owner = std::make_shared<Owner>();
  owner->device = device;
  auto stream = make_stream(owner, 0, 0, true);
  if (!stream) return nullptr;
  struct RetireAtEnd {
    Stream* stream;
    ~RetireAtEnd() {
      Remains none;
      if (stream != nullptr) retire(*stream, Held::awaited, none);
    }
  } unused{stream.get()};
  auto context = std::make_shared<Context>(owner, stream, is_default);
  owner->context = contexts().insert(context);
  if (owner->context == nullptr) return nullptr;
  unused.stream = nullptr;
  return context;
}

void retire(Context& context, const std::vector<std::shared_ptr<Stream>>& streams, Held held,
            Remains& remains) {
  contexts().erase(context.handle());
  context.owner()->alive.store(false, std::memory_order_release);
  for (const auto& stream : streams)
    if (!stream->is_default()) finish(*stream, held, remains);
  retire(*context.default_stream(), held, remains);
}

bool runs_on_this_thread(const Context& context) {
  for (const auto& stream : streams_of(*context.owner()))
    if (stream->runs_on_this_thread()) return true;
  return false;
}

Status create_context(int32_t device, void** out) {
  RETURN_IF_FAILED(injected_failure(FaultKind::context));
  if (out == nullptr) return fail("output-pointer-null"_rule, kRtParamInvalid, "context is null");
  RETURN_IF_FAILED(check_device(device));
  const auto context = make_context(device, false);
  if (!context)
    return fail("handle-limit"_rule, kRtResourceAllocFail,
                "too many contexts or streams are alive");
  make_current(*context->owner());
  *out = context->handle();
  return {};
}

Status destroy_context(const void* handle) {
  auto context = contexts().find(handle);
  if (!context) return no_such_context(handle);
  if (context->is_default())
    return fail("default-context"_rule, kRtParamInvalid,
                "context is a device's default context; aclrtResetDevice releases it");
  if (runs_on_this_thread(*context))
    return fail("called-from-own-work"_rule, kRtParamInvalid,
                "called from work of one of the context's streams");
  const auto streams = streams_of(*context->owner());
  context = contexts().erase(handle);
  if (!context) return no_such_context(handle);  // another thread destroyed it
  Remains remains;
  retire(*context, streams, Held::awaited, remains);
  return remains.report("aclrtDestroyContext");
}

Status current_context(std::shared_ptr<Context>& out) {
  if (current == nullptr)
    return fail("no-device"_rule, kRtContextNull,
                "the calling thread has no device; call aclrtSetDevice first");
  out = contexts().find(current);
  if (!out)
    return fail("context-gone"_rule, kRtContextNull,
                "the calling thread's context was destroyed, or its device was reset; call "
                "aclrtSetDevice or aclrtSetCurrentContext first");
  return {};
}

Status require_device() {
  std::shared_ptr<Context> context;
  return current_context(context);
}

void* current_context_handle() { return current; }
void make_current(const Owner& owner) { current = owner.context; }

Status set_current_context(const void* handle) {
  const auto context = contexts().find(handle);
  if (!context) return no_such_context(handle);
  make_current(*context->owner());
  return {};
}

}  // namespace softnpu::runtime
