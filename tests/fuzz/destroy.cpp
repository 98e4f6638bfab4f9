// SPDX-License-Identifier: Apache-2.0
// The end of each kind of thing.
#include "calls.h"

namespace fuzz {
namespace {

#define DESTROY(kind, function, type) \
  case kind:                          \
    return CALL(function, static_cast<type*>(value))

int call_for(Kind kind, void* value) {
  switch (kind) {
    DESTROY(kTensor, aclDestroyTensor, aclTensor);
    DESTROY(kScalar, aclDestroyScalar, aclScalar);
    DESTROY(kIntArray, aclDestroyIntArray, aclIntArray);
    DESTROY(kFloatArray, aclDestroyFloatArray, aclFloatArray);
    DESTROY(kBoolArray, aclDestroyBoolArray, aclBoolArray);
    DESTROY(kTensorList, aclDestroyTensorList, aclTensorList);
    DESTROY(kScalarList, aclDestroyScalarList, aclScalarList);
    DESTROY(kExecutor, aclDestroyAclOpExecutor, aclOpExecutor);
    DESTROY(kContext, aclrtDestroyContext, void);
    DESTROY(kStream, aclrtDestroyStream, void);
    DESTROY(kEvent, aclrtDestroyEvent, void);
    DESTROY(kGraph, aclmdlRIDestroy, void);
    DESTROY(kPhysical, aclrtFreePhysical, void);
    DESTROY(kReservation, aclrtReleaseMemAddress, void);
    DESTROY(kDeviceMemory, aclrtFree, void);
    default:
      return CALL(aclrtFreeHost, value);
  }
}

}  // namespace

void destroy_thing(State& s, Kind kind, void* value) {
  const int status = call_for(kind, value);
  if (kind != kContext && kind != kStream) return s.destroyed(kind, value, status);
  // These may say that work has failed, and are destroyed all the same.
  Thing* thing = s.find(kind, value);
  if (thing == nullptr) return;
  int32_t id = 0;
  if (kind == kStream)
    thing->is_live = CALL(aclrtStreamGetId, value, &id) == 0;
  else
    thing->is_live = status == ACL_ERROR_RT_PARAM_INVALID || is_shortage(status);
}

}  // namespace fuzz
