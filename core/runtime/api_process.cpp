// SPDX-License-Identifier: Apache-2.0
// aclInit and aclFinalize, properties of the machine, and the thread's last errors.
#include <cstdarg>
#include <cstdio>
#include <cstring>

#include "acl/acl.h"
#include "base/dtype.h"
#include "base/float_state.h"
#include "base/half.h"
#include "base/last_error.h"
#include "runtime/entry.h"
#include "runtime/process.h"
#include "runtime/product.h"

using namespace softnpu;
using namespace softnpu::runtime;

namespace {

aclError check_level(const Call& call, int32_t level) {
  return entry(call, [&]() -> Status {
    if (level == ACL_RT_THREAD_LEVEL) return {};
    return fail("thread-level"_rule, kRtParamInvalid, "level is ", level,
                "; it must be ACL_RT_THREAD_LEVEL (0)");
  });
}

Status check_package(const char* name) {
  return name ? Status() : fail("argument-null"_rule, kAclInvalidParam, "pkgName is null");
}

}  // namespace

extern "C" {

aclError aclInit(const char* configPath) {
  return entry(CALL(configPath), [&] { return initialize(configPath); });
}

aclError aclFinalize() {
  return entry(CALL(), [] { return finalize(); });
}

const char* aclGetRecentErrMsg() { return take_message(); }

const char* aclrtGetSocName() { return product().name.data(); }

aclError aclrtGetVersion(int32_t* majorVersion, int32_t* minorVersion, int32_t* patchVersion) {
  return entry(CALL(majorVersion, minorVersion, patchVersion), [&]() -> Status {
    const Version v = version();
    RETURN_IF_FAILED(store("majorVersion", majorVersion, v.major));
    RETURN_IF_FAILED(store("minorVersion", minorVersion, v.minor));
    return store("patchVersion", patchVersion, v.patch);
  });
}

aclError aclsysGetVersionStr(char* pkgName, char* versionStr) {
  return entry(CALL(pkgName), [&]() -> Status {
    RETURN_IF_FAILED(check_package(pkgName));
    if (versionStr == nullptr)
      return fail("output-pointer-null"_rule, kAclInvalidParam, "versionStr is null");
    std::strcpy(versionStr, "8.5.0");
    return {};
  });
}

aclError aclsysGetVersionNum(char* pkgName, int32_t* versionNum) {
  return entry(CALL(pkgName, versionNum), [&]() -> Status {
    RETURN_IF_FAILED(check_package(pkgName));
    if (versionNum == nullptr)
      return fail("output-pointer-null"_rule, kAclInvalidParam, "versionNum is null");
    *versionNum = 80500000;
    return {};
  });
}

void aclAppLog(aclLogLevel logLevel, const char* func, const char* file, uint32_t line,
               const char* fmt, ...) {
  if (!is_observed() || fmt == nullptr) return;
  char message[1024];
  va_list arguments;
  va_start(arguments, fmt);
  const int length = std::vsnprintf(message, sizeof message, fmt, arguments);
  va_end(arguments);
  if (length < 0) return;
  const AppMessage said{number_of(logLevel), func ? func : "", file ? file : "", line, message};
  notify(&Observer::said, said);
}

aclError aclrtGetRunMode(aclrtRunMode* runMode) {
  return entry(CALL(runMode), [&] { return store("runMode", runMode, ACL_HOST); });
}

aclError aclrtGetLastError(aclrtLastErrLevel level) {
  const int32_t last = last_runtime_code();
  const aclError status = check_level(CALL(level), number_of(level));
  if (status != ACL_SUCCESS) return status;
  remember_runtime_code(kSuccess);
  return last;
}

aclError aclrtPeekAtLastError(aclrtLastErrLevel level) {
  const int32_t last = last_runtime_code();
  const aclError status = check_level(CALL(level), number_of(level));
  return status == ACL_SUCCESS ? last : status;
}

size_t aclDataTypeSize(aclDataType dataType) {
  return static_cast<size_t>(item_size(static_cast<DType>(number_of(dataType))));
}

aclFloat16 aclFloatToFloat16(float value) {
  const DefaultFloats floats;
  if (value != value) return 0x7BFF;
  const uint16_t half = float_to_half(value);
  // The documented conversion saturates instead of returning an infinity.
  return (half & 0x7FFF) == 0x7C00 ? static_cast<uint16_t>(half - 1) : half;
}

float aclFloat16ToFloat(aclFloat16 value) {
  const DefaultFloats floats;
  if ((value & 0x7C00) != 0x7C00) return half_to_float(value);
  const bool is_nan = (value & 0x3FF) != 0;
  const float magnitude = is_nan ? 98304.0f : 65536.0f;
  return (value & 0x8000) != 0 ? -magnitude : magnitude;
}

}  // extern "C"
