// SPDX-License-Identifier: Apache-2.0
#include "base/status.h"

#include <utility>

#include "base/lasting.h"

namespace softnpu {
namespace {

constexpr std::pair<int32_t, std::string_view> kAclnnCodes[] = {
    {kSuccess, "ACLNN_SUCCESS"},
    {kParamNullptr, "ACLNN_ERR_PARAM_NULLPTR"},
    {kParamInvalid, "ACLNN_ERR_PARAM_INVALID"},
    {kRuntimeError, "ACLNN_ERR_RUNTIME_ERROR"},
    {kFindKernelError, "ACLNN_ERR_INNER_FIND_KERNEL_ERROR"},
    {kCreateExecutor, "ACLNN_ERR_INNER_CREATE_EXECUTOR"},
    {kInnerNullptr, "ACLNN_ERR_INNER_NULLPTR"},
};

}  // namespace

std::string_view aclnn_code_name(int32_t code) {
  for (const auto& [value, name] : kAclnnCodes)
    if (value == code) return name;
  return {};
}

const std::string& Status::message() const {
  return failure_ ? failure_->message : lasting<std::string>;
}

}  // namespace softnpu
