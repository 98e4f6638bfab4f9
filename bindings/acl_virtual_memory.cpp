// SPDX-License-Identifier: Apache-2.0
// Virtual memory, batches of copies, and device queries. C structures are passed by address.
#include <vector>

#include "c_function.h"
#include "gil.h"
#include "raise.h"
#include "sections.h"

namespace softnpu::python {
namespace {

using nb::arg;

using Addresses = std::vector<uintptr_t>;
using Sizes = std::vector<size_t>;

std::tuple<size_t, int> copy_batch(const Addresses& dsts, Sizes dest_maxs, const Addresses& srcs,
                                   Sizes sizes, aclrtMemcpyBatchAttr* attrs, Sizes attrs_indexes,
                                   void* stream) {
  const size_t count = dsts.size();
  for (const size_t length : {dest_maxs.size(), srcs.size(), sizes.size()})
    if (length != count)
      raise(PyExc_ValueError, "list-lengths"_rule,
            text("aclrtMemcpyBatchAsync: dsts has ", count,
                 " elements; dest_maxs, srcs and sizes must have as many"));
  std::vector<void*> to, from;
  for (const uintptr_t each : dsts) to.push_back(reinterpret_cast<void*>(each));
  for (const uintptr_t each : srcs) from.push_back(reinterpret_cast<void*>(each));
  size_t failing = 0;
  const int status = [&] {
    const GilRelease others_may_run;
    return aclrtMemcpyBatchAsync(to.data(), dest_maxs.data(), from.data(), sizes.data(), count,
                                 attrs, attrs_indexes.data(), attrs_indexes.size(), &failing,
                                 stream);
  }();
  release_dropped_callbacks();
  return {failing, status};
}

void bind_information(nb::module_& m) {
  BIND_ACL(aclrtGetDeviceInfo, arg("device_id"), arg("attr"), "Value, status.");
  BIND_ACL(aclGetDeviceCapability, arg("device_id"), arg("device_info"), "Value, status.");
  BIND_ACL(aclrtGetDeviceCapability, arg("device_id"), arg("device_info"), "Value, status.");
}

}  // namespace

void bind_acl_virtual_memory(nb::module_& m) {
  BIND_ACL(aclrtReserveMemAddress, arg("size"), arg("alignment"), arg("expect_ptr").none(),
           arg("flags"), "Address, status.");
  BIND_ACL(aclrtReleaseMemAddress, arg("vir_ptr"), "Give reserved addresses back.");
  BIND_ACL(aclrtMallocPhysical, arg("size"), arg("prop"), arg("flags"), "Handle, status.");
  BIND_ACL(aclrtFreePhysical, arg("handle"), "Release physical memory.");
  BIND_ACL(aclrtMapMem, arg("vir_ptr"), arg("size"), arg("offset"), arg("handle"), arg("flags"),
           "Map physical memory at reserved addresses.");
  BIND_ACL(aclrtUnmapMem, arg("vir_ptr"), "Undo a mapping.");
  BIND_ACL(aclrtMemGetAllocationGranularity, arg("prop"), arg("option"), "Bytes, status.");
  define(m, "aclrtMemcpyBatchAsync", &copy_batch, arg("dsts"), arg("dest_maxs"), arg("srcs"),
         arg("sizes"), arg("attrs"), arg("attrs_indexes"), arg("stream"),
         "Index of the copy that is wrong, status.");
  bind_information(m);
}

}  // namespace softnpu::python
