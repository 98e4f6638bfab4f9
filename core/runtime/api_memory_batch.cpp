// SPDX-License-Identifier: Apache-2.0
// Many copies in one call.
#include <cstdint>

#include "acl/acl_rt.h"
#include "base/fault_injection.h"
#include "runtime/context.h"
#include "runtime/copy_work.h"
#include "runtime/entry.h"
#include "runtime/settings.h"

using namespace softnpu;
using namespace softnpu::runtime;

namespace {

// The arguments of the call. Lists are checked before they are read.
struct Batch {
  void** dsts;
  size_t* dest_maxs;
  void** srcs;
  size_t* sizes;
  size_t count;
  aclrtMemcpyBatchAttr* attrs;
  size_t* attrs_indexes;
  size_t attrs_count;

  Status check_lists() const;
  Status check_indexes() const;
  // Checks copy i, whose attributes are attrs[attr].
  Status check(size_t i, size_t attr) const;
  // `failing` is the index of the invalid copy, unless the call itself is invalid.
  Status check_all(size_t& failing) const;
  Copy copy(size_t i) const { return {dsts[i], dest_maxs[i], srcs[i], sizes[i]}; }
  // The attributes of copy i; copy i - 1 has `attr`.
  size_t attr_of(size_t i, size_t attr) const {
    return attr + 1 < attrs_count && attrs_indexes[attr + 1] == i ? attr + 1 : attr;
  }
};

Status Batch::check_lists() const {
  if (count == 0)
    return fail("batch-counts"_rule, kRtParamInvalid, "numBatches is 0; it must be above 0");
  if (attrs_count == 0 || attrs_count > count)
    return fail("batch-counts"_rule, kRtParamInvalid, "numAttrs is ", attrs_count,
                "; it must be at least 1 and at most numBatches, which is ", count);
  const struct {
    const char* name;
    const void* list;
  } lists[] = {{"dsts", dsts},   {"destMaxs", dest_maxs}, {"srcs", srcs},
               {"sizes", sizes}, {"attrs", attrs},        {"attrsIndexes", attrs_indexes}};
  for (const auto& [name, list] : lists)
    if (list == nullptr) return fail("argument-null"_rule, kRtParamInvalid, name, " is null");
  return {};
}

Status Batch::check_indexes() const {
  if (attrs_indexes[0] != 0)
    return fail("batch-indexes"_rule, kRtParamInvalid, "attrsIndexes[0] is ", attrs_indexes[0],
                "; it must be 0");
  for (size_t i = 1; i < attrs_count; ++i)
    if (attrs_indexes[i] <= attrs_indexes[i - 1] || attrs_indexes[i] >= count)
      return fail("batch-indexes"_rule, kRtParamInvalid, "attrsIndexes[", i, "] is ",
                  attrs_indexes[i], "; it must be above attrsIndexes[", i - 1, "], which is ",
                  attrs_indexes[i - 1], ", and below numBatches, which is ", count);
  return {};
}

// Checks the location `name` in attrs[attr] for address `i` of a list.
Status check_location(const char* name, size_t attr, const aclrtMemLocation& location,
                      const char* list, size_t i, const void* address) {
  const int32_t type = number_of(location.type);
  if (type != ACL_MEM_LOCATION_TYPE_HOST && type != ACL_MEM_LOCATION_TYPE_DEVICE)
    return fail("batch-location"_rule, kRtParamInvalid, "attrs[", attr, "].", name, ".type is ",
                type, "; it must be one of aclrtMemLocationType, 0 or 1");
  const bool on_device = type == ACL_MEM_LOCATION_TYPE_DEVICE;
  if (on_device && location.id >= static_cast<uint32_t>(device_count()))
    return fail("device-id"_rule, kRtInvalidDeviceId, "attrs[", attr, "].", name, ".id is ",
                location.id, "; it must be below ", device_count(), ", the number of devices");
  // Registered memory of the host is both.
  if (on_device ? find_block(address).has_value() : device_of(address).value_or(kHost) == kHost)
    return {};
  return fail("batch-location"_rule, kRtParamInvalid, list, "[", i, "] is ",
              on_device ? "not device memory" : "device memory", ", but attrs[", attr, "].", name,
              ".type is ", type, " (",
              on_device ? "ACL_MEM_LOCATION_TYPE_DEVICE)" : "ACL_MEM_LOCATION_TYPE_HOST)");
}

Status Batch::check(size_t i, size_t attr) const {
  const Status wrong = copy(i).check();
  if (!wrong.ok()) return wrong.in(text("copy ", i));
  if (sizes[i] == 0) return {};
  RETURN_IF_FAILED(check_location("dstLoc", attr, attrs[attr].dstLoc, "dsts", i, dsts[i]));
  return check_location("srcLoc", attr, attrs[attr].srcLoc, "srcs", i, srcs[i]);
}

Status Batch::check_all(size_t& failing) const {
  RETURN_IF_FAILED(injected_failure(FaultKind::memcpy));
  RETURN_IF_FAILED(require_device());
  RETURN_IF_FAILED(check_lists());
  RETURN_IF_FAILED(check_indexes());
  for (size_t i = 0, attr = 0; i < count; ++i) {
    attr = attr_of(i, attr);
    failing = i;
    RETURN_IF_FAILED(check(i, attr));
  }
  failing = SIZE_MAX;
  return {};
}

Status launch_batch(const Call& call, const Batch& batch, size_t& failing, aclrtStream stream) {
  const uint64_t time = memory_time();  // before the checks, so that no release is missed
  RETURN_IF_FAILED(batch.check_all(failing));
  for (size_t i = 0; i < batch.count; ++i) {
    if (i > 0) failing = i;  // earlier copies will run; a failure of the first is one of the call
    RETURN_IF_FAILED(launch_operation(call, batch.copy(i), time, stream));
  }
  failing = SIZE_MAX;
  return {};
}

Status run_batch(const Call& call, const Batch& batch, size_t& failing) {
  RETURN_IF_FAILED(batch.check_all(failing));
  RETURN_IF_FAILED(require_no_capture());
  for (size_t i = 0; i < batch.count; ++i) run_observed(call, batch.copy(i));
  return {};
}

}  // namespace

extern "C" {

aclError aclrtMemcpyBatch(void** dsts, size_t* destMaxs, void** srcs, size_t* sizes,
                          size_t numBatches, aclrtMemcpyBatchAttr* attrs, size_t* attrsIndexes,
                          size_t numAttrs, size_t* failIndex) {
  const auto call =
      CALL(dsts, destMaxs, srcs, sizes, numBatches, attrs, attrsIndexes, numAttrs, failIndex);
  return entry(call, [&]() -> Status {
    RETURN_IF_FAILED(store("failIndex", failIndex, SIZE_MAX));
    const Batch batch{dsts, destMaxs, srcs, sizes, numBatches, attrs, attrsIndexes, numAttrs};
    return run_batch(call, batch, *failIndex);
  });
}

aclError aclrtMemcpyBatchAsync(void** dsts, size_t* destMaxs, void** srcs, size_t* sizes,
                               size_t numBatches, aclrtMemcpyBatchAttr* attrs, size_t* attrsIndexes,
                               size_t numAttrs, size_t* failIndex, aclrtStream stream) {
  const auto call = CALL(dsts, destMaxs, srcs, sizes, numBatches, attrs, attrsIndexes, numAttrs,
                         failIndex, stream);
  return entry(call, [&]() -> Status {
    RETURN_IF_FAILED(store("failIndex", failIndex, SIZE_MAX));
    const Batch batch{dsts, destMaxs, srcs, sizes, numBatches, attrs, attrsIndexes, numAttrs};
    return launch_batch(call, batch, *failIndex, stream);
  });
}

}  // extern "C"
