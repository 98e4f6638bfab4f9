// SPDX-License-Identifier: Apache-2.0
// Device memory, page-locked host memory, and copies.
#include "c_function.h"
#include "runtime/memory.h"
#include "sections.h"

namespace softnpu::python {
namespace {

using nb::arg;

void bind_allocation(nb::module_& m) {
  BIND_ACL(aclrtMalloc, arg("size"), arg("policy"), "Address, status.");
  BIND_ACL(aclrtMallocAlign32, arg("size"), arg("policy"), "Address, status.");
  BIND_ACL(aclrtMallocCached, arg("size"), arg("policy"), "Address, status.");
  BIND_ACL(aclrtFree, arg("ptr"), "Release device memory.");
  BIND_ACL(aclrtFreeWithDevSync, arg("ptr"),
           "Release device memory after the device's work is done.");
  BIND_ACL(aclrtMallocHost, arg("size"), "Address, status.");
  BIND_ACL(aclrtFreeHost, arg("ptr"), "Release host memory.");
  BIND_ACL(aclrtGetMemInfo, arg("attr"), "Free bytes, total bytes, status.");
}

void bind_copies(nb::module_& m) {
  BIND_ACL(aclrtMemcpy, arg("dst"), arg("dest_max"), arg("src"), arg("count"), arg("kind"),
           "Copy count bytes; dest_max bounds the destination.");
  BIND_ACL(aclrtMemcpyAsync, arg("dst"), arg("dest_max"), arg("src"), arg("count"), arg("kind"),
           arg("stream"), "The same, in a stream's order.");
  BIND_ACL(aclrtMemset, arg("ptr"), arg("max_count"), arg("value"), arg("count"),
           "Set count bytes; max_count bounds the memory.");
  BIND_ACL(aclrtMemsetAsync, arg("ptr"), arg("max_count"), arg("value"), arg("count"),
           arg("stream"), "The same, in a stream's order.");
  BIND_ACL(aclrtMemcpy2d, arg("dst"), arg("dpitch"), arg("src"), arg("spitch"), arg("width"),
           arg("height"), arg("kind"),
           "Copy height rows of width bytes; pitches part the rows' starts.");
  BIND_ACL(aclrtMemcpy2dAsync, arg("dst"), arg("dpitch"), arg("src"), arg("spitch"), arg("width"),
           arg("height"), arg("kind"), arg("stream"), "The same, in a stream's order.");
}

nb::object memory_view(uintptr_t at, Py_ssize_t size) {
  const uintptr_t address = at;
  if (size < 0) raise(PyExc_ValueError, "size-negative"_rule, "size must not be negative");
  if (address == 0 && size > 0) raise(PyExc_ValueError, "address-null"_rule, "the address is null");
  const Status status = runtime::check_range("the address", reinterpret_cast<void*>(address),
                                             static_cast<size_t>(size));
  if (!status.ok()) raise(PyExc_ValueError, {status.rule()}, status.message());
  static char nothing;  // empty views need an address, too
  char* memory = address == 0 ? &nothing : reinterpret_cast<char*>(address);
  PyObject* view = PyMemoryView_FromMemory(memory, size, PyBUF_WRITE);
  if (view == nullptr) nb::raise_python_error();
  return nb::steal(view);
}

}  // namespace

void bind_acl_memory(nb::module_& m) {
  bind_allocation(m);
  bind_copies(m);
  define(m, "memory_view", &memory_view, arg("address"), arg("size"),
         nb::sig("def memory_view(address: int, size: int) -> memoryview"),
         "The bytes at an address, writable; they must stay allocated while the view is in use.");
  m.def(
      "bytes_address",
      [](const nb::bytes& data) { return reinterpret_cast<uintptr_t>(data.c_str()); }, arg("data"),
      "Where the contents of a bytes object lie.");
}

}  // namespace softnpu::python
