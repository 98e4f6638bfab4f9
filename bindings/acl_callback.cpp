// SPDX-License-Identifier: Apache-2.0
// Python functions in streams, and the threads that run them.
#include <unordered_map>

#include "base/lasting.h"
#include "c_function.h"
#include "callbacks.h"
#include "gil.h"
#include "python_code.h"
#include "sections.h"

namespace softnpu::python {
namespace {

struct Waiting {
  Held function;
  Held argument;
  uintptr_t stream;
};

// The device holds a number and not an address, so that a callback whose stream was destroyed in
// the meantime is found missing. Guarded by the GIL; never destroyed, because the device may
// outlive the interpreter.
struct Registry {
  std::unordered_map<uintptr_t, Waiting> waiting;
  uintptr_t next = 1;
};

Registry& registry() { return lasting<Registry>; }

// What the device calls. An exception cannot reach whoever launched it: sys.unraisablehook gets it.
void run(void* ticket) {
  if (!Py_IsInitialized()) return;
  const GilAcquire gil;
  auto node = registry().waiting.extract(reinterpret_cast<uintptr_t>(ticket));
  if (node.empty()) return;
  const Waiting& waiting = node.mapped();
  const Held result = nb::steal(call_or_stay(
      [&] { return PyObject_CallOneArg(waiting.function.ptr(), waiting.argument.ptr()); }));
  if (!result.is_valid()) call_or_stay([&] { PyErr_WriteUnraisable(waiting.function.ptr()); });
}

// `launch` gets the ticket; where it fails, the function is released at once.
template <class Launch>
int enlist(nb::callable function, nb::object argument, uintptr_t stream, Launch&& launch) {
  const uintptr_t ticket = registry().next++;
  registry().waiting.emplace(ticket, Waiting{std::move(function), std::move(argument), stream});
  const int status = [&] {
    const GilRelease others_may_run;
    return launch(reinterpret_cast<void*>(ticket));
  }();
  if (status != ACL_SUCCESS) registry().waiting.erase(ticket);
  return status;
}

int launch_callback(nb::callable function, nb::object user_data, Number<int> block_type,
                    Handle stream) {
  return enlist(std::move(function), std::move(user_data), stream.value_or(0), [&](void* ticket) {
    return aclrtLaunchCallback(&run, ticket, static_cast<aclrtCallbackBlockType>(block_type.value),
                               pointer(stream));
  });
}

int launch_host_func(Handle stream, nb::callable function, nb::object args) {
  return enlist(std::move(function), std::move(args), stream.value_or(0),
                [&](void* ticket) { return aclrtLaunchHostFunc(pointer(stream), &run, ticket); });
}

}  // namespace

void forget_callbacks(uintptr_t stream) {
  std::unordered_map<uintptr_t, Waiting> gone;  // released last: that may run Python code
  auto& waiting = registry().waiting;
  for (auto entry = waiting.begin(); entry != waiting.end();) {
    const auto here = entry++;
    if (here->second.stream == stream) gone.insert(waiting.extract(here));
  }
}

void forget_all_callbacks() { const auto gone = std::exchange(registry().waiting, {}); }

void bind_acl_callback(nb::module_& m) {
  m.def("aclrtLaunchCallback", &launch_callback, nb::arg("fn"), nb::arg("user_data").none(),
        nb::arg("block_type"), handle("stream"),
        nb::sig("def aclrtLaunchCallback(fn: Callable[[Any], object], user_data: Any, "
                "block_type: int, stream: int | None) -> int"),
        "Hand fn(user_data) to the thread that is subscribed to the stream.");
  m.def("aclrtLaunchHostFunc", &launch_host_func, handle("stream"), nb::arg("fn"),
        nb::arg("args").none(),
        nb::sig("def aclrtLaunchHostFunc(stream: int | None, fn: Callable[[Any], object], "
                "args: Any) -> int"),
        "Call fn(args) in the stream's order.");
  bind_acl<&aclrtSubscribeReport>(m, "aclrtSubscribeReport", nb::arg("thread_id"), handle("stream"),
                                  "Let a thread run a stream's callbacks.");
  bind_acl<&aclrtUnSubscribeReport>(m, "aclrtUnSubscribeReport", nb::arg("thread_id"),
                                    handle("stream"), "Undo aclrtSubscribeReport.");
  bind_acl<&aclrtProcessReport>(m, "aclrtProcessReport", nb::arg("timeout"),
                                "Wait for callbacks of this thread and run them.");
}

}  // namespace softnpu::python
