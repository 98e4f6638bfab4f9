// SPDX-License-Identifier: Apache-2.0
#include "checkers/misuse.h"

#include <algorithm>
#include <iterator>

#include "acl/acl_rt.h"
#include "checkers/ledger.h"
#include "runtime/process.h"

namespace softnpu::checkers {
namespace {

struct Misuse {
  std::string_view rule;
  Tool tool;
  std::string_view kind;
  std::string_view suggestion;
};

constexpr std::string_view kFreeLater =
    "Free the memory after the last operation that uses it is done.";
constexpr std::string_view kFreeOnce =
    "Free each allocation once, by the address that the allocation returned.";
constexpr std::string_view kFreeByAllocator =
    "Free memory of aclrtMalloc with aclrtFree, of aclrtMallocHost with aclrtFreeHost, and of "
    "malloc() with free().";
constexpr std::string_view kMapFirst =
    "Map physical memory there (aclrtMapMem) before the address is used, and unmap it after.";
constexpr std::string_view kLarger = "Allocate more memory, or make the view or the copy smaller.";
constexpr std::string_view kAligned =
    "Use addresses that are multiples of the element size, as aclrtMalloc returns them.";
constexpr std::string_view kOnDevice = "Allocate it with aclrtMalloc and copy the data there.";
constexpr std::string_view kWorkspace =
    "Allocate a workspace of the size that phase one returned, and pass that size.";
constexpr std::string_view kOneLaunch =
    "Call phase one anew for each launch, or make the executor repeatable "
    "(aclSetAclOpExecutorRepeatable).";
constexpr std::string_view kKeepHandle = "Destroy the object after its last use, and once.";
constexpr std::string_view kOneDestruction =
    "Destroy an executor once, and only if it was never launched or is repeatable: the launch "
    "destroys any other.";
constexpr std::string_view kKeepReservation =
    "Pass the address that aclrtReserveMemAddress returned, and release it once, after its last "
    "use.";
constexpr std::string_view kTwoEvents =
    "Record both events, synchronise, and pass them in the order in which they were recorded.";

constexpr Misuse kMisuses[] = {
    {"use-after-free", Tool::memcheck, "use-after-free", kFreeLater},
    {"memory-freed", Tool::memcheck, "use-after-free", kFreeLater},
    {"memory-unmapped", Tool::memcheck, "unmapped-memory", kMapFirst},
    {"double-free", Tool::memcheck, "double-free", kFreeOnce},
    {"foreign-free", Tool::memcheck, "foreign-free", kFreeByAllocator},
    {"interior-free", Tool::memcheck, "interior-free", kFreeOnce},
    {"wrong-free", Tool::memcheck, "foreign-free", kFreeByAllocator},
    {"out-of-bounds", Tool::memcheck, "out-of-bounds", kLarger},
    {"view-past-allocation", Tool::memcheck, "out-of-bounds", kLarger},
    {"view-past-storage", Tool::memcheck, "out-of-bounds", kLarger},
    {"workspace-past-allocation", Tool::memcheck, "workspace", kWorkspace},
    {"workspace-null", Tool::memcheck, "workspace", kWorkspace},
    {"workspace-small", Tool::memcheck, "workspace", kWorkspace},
    {"workspace-on-operand", Tool::memcheck, "workspace", kWorkspace},
    {"workspace-misaligned", Tool::memcheck, "misaligned", kAligned},
    {"data-misaligned", Tool::memcheck, "misaligned", kAligned},
    {"not-device-memory", Tool::memcheck, "not-device-memory", kOnDevice},
    {"workspace-not-device-memory", Tool::memcheck, "not-device-memory", kOnDevice},
    {"executor-dead", Tool::memcheck, "dead-executor", kOneLaunch},
    {"executor-unknown", Tool::memcheck, "dead-executor", kOneDestruction},
    {"dead-handle", Tool::memcheck, "dead-handle", kKeepHandle},
    {"context-dead", Tool::memcheck, "dead-handle", kKeepHandle},
    {"list-member-dead", Tool::memcheck, "dead-handle", kKeepHandle},
    {"address-not-reserved", Tool::memcheck, "dead-handle", kKeepReservation},
    {"event-unrecorded", Tool::synccheck, "incomparable-events", kTwoEvents},
    {"event-not-reached", Tool::synccheck, "incomparable-events", kTwoEvents},
    {"events-reversed", Tool::synccheck, "incomparable-events", kTwoEvents},
    {"index-out-of-range", Tool::memcheck, "index-out-of-range",
     "Check the indices: each must lie inside the plane that it points into."},
};

constexpr Misuse kOther = {
    "", Tool::apicheck, "failed-call",
    "Pass what the message expects, and check the status of each call. Name failures that are "
    "expected in the file of softnpu check --suppressions, or in the marker softnpu_findings of a "
    "test."};

// Failures that were asked for, or that correct programs provoke and handle (a loop that processes
// callbacks).
constexpr std::string_view kNoMisuses[] = {"failed-on-purpose",   "initialized-twice",
                                           "wait-timeout",        "out-of-memory",
                                           "no-callback-in-time", "thread-not-subscribed"};

// What a failed call, or failed work, is a finding of; null if of nothing.
const Misuse* misuse_of(std::string_view rule, bool is_call) {
  const auto found = std::ranges::find(kMisuses, rule, &Misuse::rule);
  if (found != std::end(kMisuses)) return found;
  const bool is_known = std::ranges::find(kNoMisuses, rule) != std::end(kNoMisuses);
  return is_call && !is_known ? &kOther : nullptr;
}

}  // namespace

std::string finding_of(std::string_view rule) {
  const Misuse* const misuse = misuse_of(rule, true);
  return misuse == nullptr ? ""
                           : text(kToolNames[static_cast<size_t>(misuse->tool)], "/", misuse->kind);
}

void MisuseChecker::enter(const Call& call) {
  enter_call(call);
  if (runtime::was_initialized() || !tools_.have(Tool::apicheck)) return;
  // Whatever needs a device fails before one of these.
  if (call.function() != "aclrtSetDevice" && call.function() != "aclrtCreateContext") return;
  if (reported_early_use_.exchange(true)) return;
  const SharedSite where = current_site();
  report({Tool::apicheck,
          "before-init",
          text(call.function(), ": the process has not called aclInit"),
          {{"by this call", where}},
          "Call aclInit once, before any other call."});
}

void MisuseChecker::leave(const Call&, const Status& status) {
  const struct AtEnd {
    ~AtEnd() { leave_call(); }
  } at_end;
  if (!status.ok()) report_failure(status, current_site(), "by this call", nullptr);
}

void MisuseChecker::finished(const Piece& piece, const Status& status) {
  if (status.ok()) return;
  if (auto where = ledger().launch(piece))
    report_failure(status, std::move(where), "launched here", &piece);
}

void MisuseChecker::copies(const void* dst, const void* src, int32_t kind) {
  constexpr std::string_view kKinds[] = {"HOST_TO_HOST", "HOST_TO_DEVICE", "DEVICE_TO_HOST",
                                         "DEVICE_TO_DEVICE"};
  if (!tools_.have(Tool::apicheck) || kind < 0 || kind >= std::ssize(kKinds)) return;
  const auto check = [&](const char* name, const void* address, bool wants_device) {
    const auto found = ledger().find(address);
    // Page-locked memory may be used by its address on the device.
    if (found && found->family == runtime::Family::host) return;
    if (found.has_value() == wants_device) return;
    const SharedSite where = current_site();
    report({Tool::apicheck,
            "copy-kind",
            text(where->function, ": kind is ACL_MEMCPY_", kKinds[static_cast<size_t>(kind)],
                 ", but ", name, " is ", found ? "" : "not ", "device memory"),
            {{"by this call", where}},
            "Pass the kind that fits both addresses."});
  };
  check("dst", dst, kind == ACL_MEMCPY_HOST_TO_DEVICE || kind == ACL_MEMCPY_DEVICE_TO_DEVICE);
  check("src", src, kind == ACL_MEMCPY_DEVICE_TO_HOST || kind == ACL_MEMCPY_DEVICE_TO_DEVICE);
}

void MisuseChecker::report_failure(const Status& status, SharedSite where, std::string_view role,
                                   const Piece* piece) {
  const Misuse* const misuse = misuse_of(status.rule(), piece == nullptr);
  if (misuse == nullptr || !tools_.have(misuse->tool)) return;
  {
    std::lock_guard lock(mutex_);
    if (piece != nullptr)
      reported_.insert(status.message());
    else if (std::ranges::any_of(reported_, [&](const std::string& one) {
               return status.message().find(one) != std::string::npos;
             }))
      return;
  }
  Finding finding{misuse->tool, misuse->kind, status.message(), {}, std::string(misuse->suggestion),
                  status.rule()};
  finding.parts.push_back({std::string(role), where});
  if (piece == nullptr) add_history_of_arguments(*where, status.message(), finding);
  if (piece != nullptr)
    for (const Access& access : piece->accesses)
      if (runtime::was_freed(access.first))
        add_history(text("the memory of ", access.name), access.first, finding);
  report(finding);
}

}  // namespace softnpu::checkers
