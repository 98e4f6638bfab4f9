// SPDX-License-Identifier: Apache-2.0
#include "c_function.h"

namespace softnpu::python {
namespace {

// The message of the C function and its rule.
Status failure(int32_t status) {
  const char* text = aclGetRecentErrMsg();
  return Status(status, text != nullptr ? text : "no message", {rule_of_taken_message()});
}

}  // namespace

void check(aclError status) {
  if (status != ACL_SUCCESS) [[unlikely]]
    raise(failure(status));
}

uintptr_t check_created(const void* handle) {
  if (handle == nullptr) [[unlikely]]
    raise(failure(kParamInvalid));
  return reinterpret_cast<uintptr_t>(handle);
}

FileName Reader<FileName>::read(const Place& place, nb::handle given) {
  if (given.is_none()) return {};
  PyObject* bytes = nullptr;
  const int taken = call_or_stay([&] { return PyUnicode_FSConverter(given.ptr(), &bytes); });
  if (taken == 0) {
    const bool is_name = PyErr_ExceptionMatches(PyExc_ValueError);
    forget_error();
    if (is_name)
      raise(PyExc_ValueError, "file-name"_rule,
            text(place.function, ": ", place.argument, " has a character that names cannot have"));
    refuse(place, given, "a str, bytes, an os.PathLike or None");
  }
  return {nb::steal(bytes)};
}

}  // namespace softnpu::python
