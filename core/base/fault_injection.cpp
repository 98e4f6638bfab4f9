// SPDX-License-Identifier: Apache-2.0
#include "base/fault_injection.h"

#include <algorithm>
#include <charconv>
#include <iterator>
#include <optional>
#include <string>
#include <vector>

#include "base/environment.h"
#include "base/lasting.h"
#include "base/random.h"

namespace softnpu {

constinit std::atomic<bool> faults_are_possible{true};

namespace {

struct Kind {
  std::string_view name;
  int32_t code;  // the default
};

constexpr Kind kKinds[] = {
    {"malloc", kRtMemoryAllocation}, {"malloc_host", kRtMemoryAllocation},
    {"memcpy", kRtInternalError},    {"memset", kRtInternalError},
    {"plan", kInnerNullptr},         {"launch", kRuntimeError},
    {"sync", kRtInternalError},      {"stream", kRtResourceAllocFail},
    {"event", kRtResourceAllocFail}, {"context", kRtResourceAllocFail},
    {"create", kInnerNullptr},
};
static_assert(std::size(kKinds) == static_cast<size_t>(FaultKind::create) + 1);

constexpr int32_t kCodes[] = {
    kParamNullptr,
    kParamInvalid,
    kRuntimeError,
    kFindKernelError,
    kCreateExecutor,
    kInnerNullptr,
    kAclInvalidParam,
    kAclRepeatInitialize,
    kAclInvalidFile,
    kAclParseFile,
    kAclRepeatFinalize,
    kAclBadAlloc,
    kAclInternalError,
    kRtParamInvalid,
    kRtInvalidDeviceId,
    kRtContextNull,
    kRtStreamContext,
    kRtEventTimestampInvalid,
    kRtEventTimestampReversal,
    kRtInvalidHandle,
    kRtSysParamOptNotSet,
    kRtMemoryAllocation,
    kRtResourceAllocFail,
    kRtInternalError,
    kRtAicoreException,
    kRtStreamSyncTimeout,
    kRtEventSyncTimeout,
};

// One requested failure: the call with a given number, or each call with a given probability.
struct Fault {
  std::string as_given;
  std::optional<FaultKind> kind = {};  // any kind if empty
  uint64_t number = 0;
  int32_t code = 0;
  double probability = 0;
  uint64_t seed = 0;
};

std::vector<std::string> split(std::string_view text, char separator) {
  std::vector<std::string> parts;
  for (size_t end; (end = text.find(separator)) != text.npos; text.remove_prefix(end + 1))
    parts.emplace_back(text.substr(0, end));
  parts.emplace_back(text);
  return parts;
}

Status wrong(const Fault& fault, std::string_view why) {
  return fail("fault-setting"_rule, kAclInvalidParam, "\"", fault.as_given,
              "\" is an invalid value: ", why);
}

// rate:P:SEED
Status parse_rate(const std::vector<std::string>& parts, Fault& fault) {
  if (parts.size() != 3) return wrong(fault, "expected rate:PROBABILITY:SEED");
  const char* const end = parts[1].data() + parts[1].size();
  const auto [stop, error] = std::from_chars(parts[1].data(), end, fault.probability);
  if (error != std::errc() || stop != end || !(fault.probability > 0 && fault.probability <= 1))
    return wrong(fault, "the probability must be above 0, and at most 1");
  const auto seed = parse_number<uint64_t>(parts[2].c_str(), 0, UINT64_MAX);
  if (!seed) return wrong(fault, "the seed must be a number from 0 to 2^64 - 1");
  fault.seed = *seed;
  return {};
}

std::string known_kinds() {
  std::string names;
  for (const Kind& kind : kKinds) names += text(kind.name, ", ");
  return names + "rate";
}

std::string known_codes() {
  std::string codes;
  for (const int32_t code : kCodes) codes += text(codes.empty() ? "" : ", ", code);
  return codes;
}

// KIND:N or KIND:N:CODE
Status parse_call(const std::vector<std::string>& parts, Fault& fault) {
  const auto* const kind = std::ranges::find(kKinds, parts[0], &Kind::name);
  if (kind == std::end(kKinds))
    return wrong(fault, text("there is no such kind of calls; it must be one of ", known_kinds()));
  fault.kind = static_cast<FaultKind>(kind - kKinds);
  fault.code = kind->code;
  if (parts.size() != 2 && parts.size() != 3)
    return wrong(fault, text("expected ", kind->name, ":N or ", kind->name, ":N:CODE"));
  const auto number = parse_number<uint64_t>(parts[1].c_str(), 1, UINT64_MAX);
  if (!number) return wrong(fault, "which call must be a number above 0");
  fault.number = *number;
  if (parts.size() == 2) return {};
  if (fault.kind == FaultKind::create)
    return wrong(fault, "calls that create a descriptor return null, and no code");
  const auto code = parse_number<int32_t>(parts[2].c_str(), 0, INT32_MAX);
  if (!code || std::ranges::find(kCodes, *code) == std::end(kCodes))
    return wrong(fault, text("the code must be one of ", known_codes()));
  fault.code = *code;
  return {};
}

Status parse(std::string_view given, std::vector<Fault>& out) {
  for (const std::string& each : split(given, ',')) {
    Fault fault{each};
    const auto parts = split(each, ':');
    RETURN_IF_FAILED(parts[0] == "rate" ? parse_rate(parts, fault) : parse_call(parts, fault));
    out.push_back(std::move(fault));
  }
  return {};
}

struct Faults {
  Faults() {
    const char* const given = setting("SOFTNPU_FAIL");
    if (given == nullptr) return;
    status = parse(given, asked_for).in("SOFTNPU_FAIL");
    if (!status.ok()) asked_for.clear();
  }

  std::vector<Fault> asked_for;
  Status status;
  std::atomic<uint64_t> calls[std::size(kKinds)] = {};
};

Faults read_faults() { return Faults(); }
Faults& faults() { return made_once<read_faults>(); }

// Depends only on the kind and the number of the call, not on the thread that makes it.
bool draws(const Fault& fault, FaultKind kind, uint64_t number) {
  Random seeded(fault.seed);
  Random drawn(seeded.next() ^ (number * std::size(kKinds) + static_cast<uint64_t>(kind)));
  return drawn.fraction() < fault.probability;
}

}  // namespace

Status faults_status() { return faults().status; }

Status check_faults(std::string_view text) {
  std::vector<Fault> ignored;
  return parse(text, ignored);
}

Status draw_failure(FaultKind kind) {
  Faults& all = faults();
  if (all.asked_for.empty()) {
    faults_are_possible.store(false, std::memory_order_relaxed);
    return {};
  }
  const auto index = static_cast<size_t>(kind);
  const uint64_t number = all.calls[index].fetch_add(1, std::memory_order_relaxed) + 1;
  for (const Fault& fault : all.asked_for) {
    const bool fails =
        fault.kind ? fault.kind == kind && fault.number == number : draws(fault, kind, number);
    if (fails)
      return fail("failed-on-purpose"_rule, fault.kind ? fault.code : kKinds[index].code,
                  "failed on purpose: SOFTNPU_FAIL asks for ", fault.as_given);
  }
  return {};
}

}  // namespace softnpu
