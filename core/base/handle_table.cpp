// SPDX-License-Identifier: Apache-2.0
#include "base/handle_table.h"

namespace softnpu {
namespace {

struct KindWords {
  const char* alive;
  const char* dead;
};

constexpr KindWords kWords[] = {
    {"no handle of softnpu", "no handle of softnpu"},
    {"an aclTensor", "a destroyed aclTensor"},
    {"an aclScalar", "a destroyed aclScalar"},
    {"an aclIntArray", "a destroyed aclIntArray"},
    {"an aclFloatArray", "a destroyed aclFloatArray"},
    {"an aclBoolArray", "a destroyed aclBoolArray"},
    {"an aclTensorList", "a destroyed aclTensorList"},
    {"an aclScalarList", "a destroyed aclScalarList"},
    {"an aclOpExecutor", "a consumed or destroyed aclOpExecutor"},
    {"an aclrtContext", "a destroyed aclrtContext"},
    {"an aclrtStream", "a destroyed aclrtStream"},
    {"an aclrtEvent", "a destroyed aclrtEvent"},
};

}  // namespace

const char* describe_handle(const void* handle, HandleKind wanted) {
  const auto kind = static_cast<size_t>(HandleBits::unpack(handle).kind);
  if (handle == nullptr) return "a null pointer";
  if (kind == 0 || kind >= sizeof kWords / sizeof *kWords) return kWords[0].alive;
  return kind == static_cast<size_t>(wanted) ? kWords[kind].dead : kWords[kind].alive;
}

}  // namespace softnpu
