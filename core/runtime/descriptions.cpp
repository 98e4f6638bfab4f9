// SPDX-License-Identifier: Apache-2.0
#include "runtime/descriptions.h"

#include <array>
#include <mutex>

#include "acl/acl_op_compiler.h"
#include "base/fork.h"
#include "base/lasting.h"

namespace softnpu::runtime {
namespace {

struct CompileOptions {
  ProcessMutex<> mutex;
  std::array<std::string, ACL_OP_DEBUG_OPTION + 1> values;
};

Status check_option(int32_t option) {
  if (option >= 0 && option <= ACL_OP_DEBUG_OPTION) return {};
  return fail("option-unknown"_rule, kAclInvalidParam, "opt is ", option,
              "; it must be one of aclCompileOpt, 0 to ", int{ACL_OP_DEBUG_OPTION});
}

}  // namespace

std::optional<size_t> TensorDesc::elements() const {
  size_t product = 1;
  for (const int64_t size : sizes)
    if (size < 0 || __builtin_mul_overflow(product, static_cast<size_t>(size), &product))
      return std::nullopt;
  return product;
}

TensorDescTable& tensor_descs() { return lasting<TensorDescTable>; }
DataBufferTable& data_buffers() { return lasting<DataBufferTable>; }

Status set_compile_option(int32_t option, const char* value) {
  RETURN_IF_FAILED(check_option(option));
  if (value == nullptr) return fail("argument-null"_rule, kAclInvalidParam, "value is null");
  std::string copy = value;
  auto& options = lasting<CompileOptions>;
  std::lock_guard lock(options.mutex);
  options.values[static_cast<size_t>(option)].swap(copy);
  return {};
}

Status compile_option(int32_t option, std::string& value) {
  RETURN_IF_FAILED(check_option(option));
  auto& options = lasting<CompileOptions>;
  std::lock_guard lock(options.mutex);
  value = options.values[static_cast<size_t>(option)];
  return {};
}

}  // namespace softnpu::runtime
