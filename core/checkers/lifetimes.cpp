// SPDX-License-Identifier: Apache-2.0
#include "checkers/lifetimes.h"

#include <algorithm>
#include <map>
#include <string>
#include <tuple>

#include "checkers/ledger.h"

namespace softnpu::checkers {
namespace {

struct Group {
  size_t count = 0;
  size_t bytes = 0;
  SharedSite site;
  runtime::Family family = {};
};

std::string key_of(const Site& site) { return text(site.function, site.stack.key()); }

// Default contexts and default streams are created by the device itself.
bool is_the_devices(HandleKind kind, const Site& site) {
  const bool sets = site.function == "aclrtSetDevice";
  if (kind == HandleKind::context) return sets;
  return kind == HandleKind::stream && (sets || site.function == "aclrtCreateContext");
}

struct Destroying {
  const char* what;
  const char* function;
};

// By kind, from HandleKind::tensor on.
constexpr Destroying kDestroying[] = {
    {"aclTensor", "aclDestroyTensor"},
    {"aclScalar", "aclDestroyScalar"},
    {"aclIntArray", "aclDestroyIntArray"},
    {"aclFloatArray", "aclDestroyFloatArray"},
    {"aclBoolArray", "aclDestroyBoolArray"},
    {"aclTensorList", "aclDestroyTensorList"},
    {"aclScalarList", "aclDestroyScalarList"},
    {"aclOpExecutor", "aclDestroyAclOpExecutor"},
    {"context", "aclrtDestroyContext"},
    {"stream", "aclrtDestroyStream"},
    {"event", "aclrtDestroyEvent"},
    {"graph", "aclmdlRIDestroy"},
    {"aclrtDrvMemHandle", "aclrtFreePhysical"},
    {"aclTensorDesc", "aclDestroyTensorDesc"},
    {"aclDataBuffer", "aclDestroyDataBuffer"},
    {"reserved address range", "aclrtReleaseMemAddress"},
};
static_assert(std::size(kDestroying) == static_cast<size_t>(HandleKind::reservation));

}  // namespace

void LifetimeChecker::destroyed(HandleKind kind, const void* handle) {
  if (kind != HandleKind::executor) return;
  std::lock_guard lock(mutex_);
  launched_.erase(handle);
}

void LifetimeChecker::leave(const Call&, const Status& status) {
  if (!status.ok()) last_failure_ = ledger().now();
}

void LifetimeChecker::launched(const Piece& piece) {
  if (piece.executor == nullptr) return;
  {
    std::lock_guard lock(mutex_);
    launched_.insert(piece.executor);
  }
  if (!tools_.have(Tool::memcheck)) return;
  for (const Access& access : piece.accesses) {
    const SharedSite end = access.tensor != nullptr ? ledger().destruction(access.tensor) : nullptr;
    if (!end) continue;
    Finding finding{Tool::memcheck,
                    "tensor-destroyed-early",
                    text(piece.what, ": ", access.name,
                         ", an aclTensor, was destroyed after phase one and before this launch"),
                    {},
                    "Destroy tensors after phase two was called; those of a repeatable executor "
                    "after its last launch."};
    finding.parts.push_back({"launched by this call", current_site()});
    finding.parts.push_back({"it was destroyed here", end});
    return report(finding);
  }
}

void LifetimeChecker::report_leaks(uint64_t since) {
  since = std::max(since, ledger().inherited());
  if (tools_.have(Tool::leakcheck)) report_leaked_memory(since);
  report_leaked_handles(since);
}

namespace {

struct Ending {
  const char *what, *done, *repair;
};

Ending ending_of(runtime::Family family) {
  switch (family) {
    case runtime::Family::mapped:
      return {" mapping", "unmapped", "Unmap memory with aclrtUnmapMem."};
    case runtime::Family::imported:
      return {" import", "closed", "Close each import with aclrtIpcMemClose."};
    default:
      return {" allocation", "freed",
              "Free device memory with aclrtFree, memory of aclrtMallocHost with aclrtFreeHost."};
  }
}

}  // namespace

void LifetimeChecker::report_leaked_memory(uint64_t since) const {
  std::map<std::string, Group> groups;
  for (const Allocation& allocation : ledger().live()) {
    if (allocation.when <= since || allocation.is_librarys) continue;
    Group& group = groups[key_of(*allocation.made)];
    ++group.count;
    group.bytes += allocation.size;
    group.site = allocation.made;
    group.family = allocation.family;
  }
  for (const auto& [key, group] : groups) {
    const bool one = group.count == 1;
    const Ending ending = ending_of(group.family);
    Finding finding{Tool::leakcheck,
                    "leaked-memory",
                    text(group.count, ending.what, one ? " of " : "s, ", group.bytes,
                         one ? " bytes was never " : " bytes in all, were never ", ending.done),
                    {},
                    ending.repair};
    finding.parts.push_back({"allocated here", group.site});
    report(finding);
  }
}

void LifetimeChecker::report_leaked_handles(uint64_t since) {
  std::map<std::tuple<HandleKind, bool, std::string>, Group> groups;
  std::lock_guard lock(mutex_);
  for (const Ledger::Handle& one : ledger().live_handles()) {
    if (one.when <= since || one.is_librarys || is_the_devices(one.kind, *one.made)) continue;
    // After a failure the program may have given up.
    const bool idle = one.kind == HandleKind::executor && !launched_.contains(one.handle) &&
                      one.when > last_failure_;
    Group& group = groups[{one.kind, idle, key_of(*one.made)}];
    ++group.count;
    group.site = one.made;
  }
  for (const auto& [key, group] : groups) {
    const auto& [kind, idle, place] = key;
    if (!tools_.have(idle ? Tool::memcheck : Tool::leakcheck)) continue;
    const auto [what, function] = kDestroying[static_cast<size_t>(kind) - 1];
    const bool one = group.count == 1;
    Finding finding{idle ? Tool::memcheck : Tool::leakcheck,
                    idle ? "executor-never-launched" : "leaked-handle",
                    text(group.count, " ", what, one ? " was" : "s were", " never ",
                         idle ? "launched" : "destroyed"),
                    {},
                    idle ? "Launch what phase one planned, or destroy the executor "
                           "(aclDestroyAclOpExecutor)."
                         : "Destroy each object after its last use."};
    finding.parts.push_back({text(idle ? "planned here" : "created here; ", idle ? "" : function,
                                  idle ? "" : " destroys it"),
                             group.site});
    report(finding);
  }
}

}  // namespace softnpu::checkers
