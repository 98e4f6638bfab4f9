// SPDX-License-Identifier: Apache-2.0
// Python functions as stream callbacks, and the threads that run them.
#include <memory>
#include <utility>

#include "c_function.h"
#include "gil.h"
#include "python_code.h"
#include "runtime/capture.h"
#include "runtime/entry.h"
#include "runtime/report.h"
#include "sections.h"

namespace softnpu::python {

struct Waiting {
  Held function;
  Held argument;
  Waiting* next = nullptr;  // in the list of dropped ones
};

void release_callbacks() {
  Waiting* gone = dropped_callbacks.exchange(nullptr, std::memory_order_acquire);
  while (gone != nullptr) {
    const std::unique_ptr<Waiting> first(gone);
    gone = first->next;
  }
}

namespace {

void drop(Waiting* waiting) noexcept {
  waiting->next = dropped_callbacks.load(std::memory_order_relaxed);
  while (
      !dropped_callbacks.compare_exchange_weak(waiting->next, waiting, std::memory_order_release)) {
  }
}

// Called by the device. sys.unraisablehook receives exceptions, because the launching code has
// returned.
void run(void* data) {
  if (!Py_IsInitialized()) return;
  const GilAcquire gil;
  const Held function = std::move(static_cast<Waiting*>(data)->function);
  const Held argument = std::move(static_cast<Waiting*>(data)->argument);
  const Held result =
      nb::steal(call_or_stay([&] { return PyObject_CallOneArg(function.ptr(), argument.ptr()); }));
  if (!result.is_valid()) call_or_stay([&] { PyErr_WriteUnraisable(function.ptr()); });
}

// `launch` receives an object that keeps the function alive as long as the device may run it.
template <class Launch>
int enlist(const Call& call, nb::callable function, nb::object argument, Launch&& launch) {
  auto fresh = std::make_unique<Waiting>(Waiting{std::move(function), std::move(argument)});
  std::shared_ptr<void> waiting(fresh.release(), &drop);
  const int status = [&] {
    const GilRelease others_may_run;
    return runtime::entry(call, [&] { return launch(std::move(waiting)); });
  }();
  waiting.reset();
  release_dropped_callbacks();
  return status;
}

int launch_callback(nb::callable function, nb::object user_data, int block_type, void* stream) {
  return enlist(NamedCall(nullptr, "aclrtLaunchCallback", "blockType, stream", block_type, stream),
                std::move(function), std::move(user_data), [&](std::shared_ptr<void> waiting) {
                  return runtime::launch_callback(stream, &run, std::move(waiting), block_type);
                });
}

int launch_host_func(void* stream, nb::callable function, nb::object args) {
  static constexpr const char* name = "aclrtLaunchHostFunc";
  return enlist(NamedCall(nullptr, name, "stream", stream), std::move(function), std::move(args),
                [&](std::shared_ptr<void> waiting) -> Status {
                  // A Python function is released after one call, but a graph would call it again.
                  std::shared_ptr<runtime::Stream> found;
                  RETURN_IF_FAILED(runtime::find_stream(stream, found));
                  RETURN_IF_FAILED(runtime::require_not_captured(*found));
                  return runtime::launch_host_function(stream, name, [waiting] {
                    run(waiting.get());
                    return Status();
                  });
                });
}

}  // namespace

void bind_acl_callback(nb::module_& m) {
  define(m, "aclrtLaunchCallback", &launch_callback, nb::arg("fn"), nb::arg("user_data").none(),
         nb::arg("block_type"), nb::arg("stream"),
         nb::sig("def aclrtLaunchCallback(fn: Callable[[Any], object], user_data: Any, "
                 "block_type: int, stream: int | None) -> int"),
         "Hand fn(user_data) to the thread that is subscribed to the stream.");
  define(m, "aclrtLaunchHostFunc", &launch_host_func, nb::arg("stream"), nb::arg("fn"),
         nb::arg("args").none(),
         nb::sig("def aclrtLaunchHostFunc(stream: int | None, fn: Callable[[Any], object], "
                 "args: Any) -> int"),
         "Call fn(args) in the stream's order.");
  BIND_ACL(aclrtSubscribeReport, nb::arg("thread_id"), nb::arg("stream"),
           "Let a thread run a stream's callbacks.");
  BIND_ACL(aclrtUnSubscribeReport, nb::arg("thread_id"), nb::arg("stream"),
           "Undo aclrtSubscribeReport.");
  BIND_ACL(aclrtProcessReport, nb::arg("timeout"),
           "Wait for callbacks of this thread and run them.");
}

}  // namespace softnpu::python
