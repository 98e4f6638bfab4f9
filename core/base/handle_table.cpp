// SPDX-License-Identifier: Apache-2.0
#include "base/handle_table.h"

#include <iterator>

#include "base/text.h"

namespace softnpu {
namespace {

// By kind; each name needs the article "an".
constexpr const char* kNames[] = {
    nullptr,         "aclTensor",         "aclScalar",     "aclIntArray",
    "aclFloatArray", "aclBoolArray",      "aclTensorList", "aclScalarList",
    "aclOpExecutor", "aclrtContext",      "aclrtStream",   "aclrtEvent",
    "aclmdlRI",      "aclrtDrvMemHandle", "aclTensorDesc", "aclDataBuffer",
};

}  // namespace

std::string describe_handle(const void* handle, HandleKind wanted) {
  if (handle == nullptr) return "a null pointer";
  const HandleKind kind = HandleBits::unpack(handle).kind;
  const auto index = static_cast<size_t>(kind);
  if (index == 0 || index >= std::size(kNames)) return "not a handle of softnpu";
  if (kind != wanted) return text("an ", kNames[index]);
  const bool is_executor = kind == HandleKind::executor;
  return text(is_executor ? "a consumed or destroyed " : "a destroyed ", kNames[index]);
}

std::string not_live(std::string_view argument, const void* handle, HandleKind wanted) {
  return text(argument, " is ", describe_handle(handle, wanted), "; expected a live ",
              kNames[static_cast<size_t>(wanted)]);
}

Status dead_handle(std::string_view argument, const void* handle, HandleKind wanted) {
  const std::string message = not_live(argument, handle, wanted);
  return handle == nullptr ? fail("handle-null"_rule, kRtParamInvalid, message)
                           : fail("dead-handle"_rule, kRtInvalidHandle, message);
}

}  // namespace softnpu
