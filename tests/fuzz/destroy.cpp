// SPDX-License-Identifier: Apache-2.0
// The end of each kind of thing.
#include "calls.h"

namespace fuzz {
namespace {

template <class T>
T* as(void* value) {
  return static_cast<T*>(value);
}

int call_for(Kind kind, void* value) {
  switch (kind) {
    case kTensor:
      return CALL(aclDestroyTensor, as<aclTensor>(value));
    case kScalar:
      return CALL(aclDestroyScalar, as<aclScalar>(value));
    case kIntArray:
      return CALL(aclDestroyIntArray, as<aclIntArray>(value));
    case kFloatArray:
      return CALL(aclDestroyFloatArray, as<aclFloatArray>(value));
    case kBoolArray:
      return CALL(aclDestroyBoolArray, as<aclBoolArray>(value));
    case kTensorList:
      return CALL(aclDestroyTensorList, as<aclTensorList>(value));
    case kScalarList:
      return CALL(aclDestroyScalarList, as<aclScalarList>(value));
    case kExecutor:
      return CALL(aclDestroyAclOpExecutor, as<aclOpExecutor>(value));
    case kContext:
      return CALL(aclrtDestroyContext, value);
    case kStream:
      return CALL(aclrtDestroyStream, value);
    case kEvent:
      return CALL(aclrtDestroyEvent, value);
    case kGraph:
      return CALL(aclmdlRIDestroy, value);
    case kPhysical:
      return CALL(aclrtFreePhysical, value);
    case kReservation:
      return CALL(aclrtReleaseMemAddress, value);
    case kDeviceMemory:
      return CALL(aclrtFree, value);
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
