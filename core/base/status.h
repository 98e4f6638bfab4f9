// SPDX-License-Identifier: Apache-2.0
// The one table of status codes, and the value that carries a code with its message.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "base/export.h"
#include "base/text.h"

namespace softnpu {

enum Code : int32_t {
  kSuccess = 0,
  // Operators (aclnn).
  kParamNullptr = 161001,
  kParamInvalid = 161002,
  kRuntimeError = 361001,
  kFindKernelError = 561003,
  kCreateExecutor = 561101,
  kInnerNullptr = 561103,
  // Device (acl).
  kAclInvalidParam = 100000,
  kAclRepeatInitialize = 100002,
  kAclInvalidFile = 100003,
  kAclParseFile = 100006,
  kAclRepeatFinalize = 100037,
  kAclBadAlloc = 200000,
  kAclInternalError = 500000,
  // Device (runtime).
  kRtParamInvalid = 107000,
  kRtInvalidDeviceId = 107001,
  kRtContextNull = 107002,
  kRtStreamContext = 107003,
  kRtEventTimestampInvalid = 107006,
  kRtEventTimestampReversal = 107007,
  kRtInvalidHandle = 107017,
  kRtSysParamOptNotSet = 107021,
  kRtMemoryAllocation = 207001,
  kRtResourceAllocFail = 207005,
  kRtInternalError = 507000,
  kRtAicoreException = 507015,
  kRtStreamSyncTimeout = 507046,
  kRtEventSyncTimeout = 507047,
};

// The documented name of an aclnn code ("ACLNN_ERR_PARAM_INVALID"), or "" for any other number.
SOFTNPU_EXPORT std::string_view aclnn_code_name(int32_t code);

// Names the rule that a failure broke; every failure has one. Those of an operator's contract stand
// in tests/contract/<op>.toml, too, and `softnpu explain` has a paragraph for each: tests hold the
// sets equal. An id stays what it is once it is released.
struct RuleId {
  std::string_view name;
};
consteval RuleId operator""_rule(const char* text, size_t length) { return {{text, length}}; }

// Distinctions of exceptions that the codes do not make.
enum class Cause : uint8_t { other, index };

// Never throws: where there is no memory for the message, the code alone must do.
class [[nodiscard]] Status {
 public:
  Status() = default;
  Status(int32_t code, std::string message, RuleId rule, Cause cause = Cause::other) noexcept
      : code_(code) {
    try {
      failure_ = std::make_shared<const Failure>(Failure{std::move(message), cause, rule});
    } catch (...) {
    }
  }

  bool ok() const { return code_ == kSuccess; }
  int32_t code() const { return code_; }
  // "" where nothing failed.
  SOFTNPU_EXPORT const std::string& message() const;
  Cause cause() const { return failure_ ? failure_->cause : Cause::other; }
  // The rule that was broken; "" where nothing failed, or without memory for the failure.
  std::string_view rule() const { return failure_ ? failure_->rule.name : std::string_view(); }

  // The same failure, named after the function that the caller called.
  Status in(std::string_view function) const noexcept {
    return ok() ? Status() : reword(*this, function, ": ", message());
  }

  // The same failure in other words.
  template <class... Parts>
  [[gnu::cold, gnu::noinline]] friend Status reword(const Status& status,
                                                    const Parts&... parts) noexcept {
    try {
      return Status(status.code_, text(parts...), {status.rule()}, status.cause());
    } catch (...) {
      return status;
    }
  }

 private:
  struct Failure {
    std::string message;
    Cause cause;
    RuleId rule;
  };

  int32_t code_ = kSuccess;
  // Behind a pointer, because checks that pass make some twenty of these in a call.
  std::shared_ptr<const Failure> failure_;
};

template <class... Parts>
[[gnu::cold, gnu::noinline]] Status fail(RuleId rule, int32_t code,
                                         const Parts&... parts) noexcept {
  try {
    return Status(code, text(parts...), rule);
  } catch (...) {
    return Status(code, {}, rule);
  }
}

}  // namespace softnpu

// One line of a contract sheet: the condition that must hold, the code that its breach gives, the
// rule's id, and the message. A macro only because it returns from the function that it stands in.
#define REQUIRE(condition, code, rule, ...)            \
  do {                                                 \
    if (!(condition)) [[unlikely]]                     \
      return ::softnpu::fail(rule, code, __VA_ARGS__); \
  } while (false)

// Passes a failure on to the caller.
#define RETURN_IF_FAILED(expression)                                          \
  do {                                                                        \
    if (::softnpu::Status status_ = (expression); !status_.ok()) [[unlikely]] \
      return status_;                                                         \
  } while (false)
