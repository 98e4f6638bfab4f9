// SPDX-License-Identifier: Apache-2.0
#include "c_function.h"

namespace softnpu::python {
namespace {

std::string message() {
  const char* text = aclGetRecentErrMsg();
  return text != nullptr ? text : "no message";
}

}  // namespace

void check(aclError status) {
  if (status != ACL_SUCCESS) [[unlikely]]
    raise(Status(status, message()));
}

uintptr_t check_created(const void* handle) {
  if (handle == nullptr) [[unlikely]]
    raise(Status(kParamInvalid, message()));
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
      throw nb::value_error(
          text(place.function, ": ", place.argument, " has a character that names cannot have")
              .c_str());
    refuse(place, given, "a str, bytes, an os.PathLike or None");
  }
  return {nb::steal(bytes)};
}

}  // namespace softnpu::python
