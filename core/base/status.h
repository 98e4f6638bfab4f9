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
  kAclApiNotSupport = 200001,
  kAclInternalError = 500000,
  // Device (runtime).
  kRtParamInvalid = 107000,
  kRtInvalidDeviceId = 107001,
  kRtContextNull = 107002,
  kRtStreamContext = 107003,
  kRtEventTimestampInvalid = 107006,
  kRtEventTimestampReversal = 107007,
  kRtStreamNoCallback = 107015,
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

// Names the rule that a failure broke; every failure has one. The rules of an operator's contract
// are also in tests/contract/<op>.toml, and `softnpu explain` has a paragraph for each; tests
// compare the sets. A released id never changes.
struct RuleId {
  std::string_view name;
};
consteval RuleId operator""_rule(const char* text, size_t length) { return {{text, length}}; }

// Distinguishes exceptions that have the same code.
enum class Cause : uint8_t { other, index };

// Never throws: without memory for the message, only the code is kept.
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
  // "" on success.
  SOFTNPU_EXPORT const std::string& message() const;
  Cause cause() const { return failure_ ? failure_->cause : Cause::other; }
  // The broken rule; "" on success, or without memory for the failure.
  std::string_view rule() const { return failure_ ? failure_->rule.name : std::string_view(); }

  // The same failure; its message begins with the function that the caller called.
  Status in(std::string_view function) const noexcept {
    return ok() ? Status() : reword(*this, function, ": ", message());
  }

  // The same failure with another message.
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
  // A pointer keeps a Status small: one call creates about twenty that are ok.
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

// One rule of a contract: the condition that must hold, the code and the rule of the failure
// otherwise, and its message. It is a macro because it returns from the enclosing function.
#define REQUIRE(condition, code, rule, ...)            \
  do {                                                 \
    if (!(condition)) [[unlikely]]                     \
      return ::softnpu::fail(rule, code, __VA_ARGS__); \
  } while (false)

// Returns a failure to the caller.
#define RETURN_IF_FAILED(expression)                                          \
  do {                                                                        \
    if (::softnpu::Status status_ = (expression); !status_.ok()) [[unlikely]] \
      return status_;                                                         \
  } while (false)
