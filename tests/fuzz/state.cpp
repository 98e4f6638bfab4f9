// SPDX-License-Identifier: Apache-2.0
#include "state.h"

#include <algorithm>
#include <utility>

#include "calls.h"
#include "reporter.h"

namespace fuzz {
namespace {

constexpr size_t kSlots = 64, kSlotBytes = 1024;

std::byte programs_memory[4096];

// The message of an allocation that no machine has room for says how much is left of how much.
void expect_all_memory_free() {
  void* none = nullptr;
  const int status = CALL(aclrtMallocHost, &none, SIZE_MAX);
  expect(status == ACL_ERROR_RT_MEMORY_ALLOCATION, "no room", "aclrtMallocHost", status);
  const char* message = CALL(aclGetRecentErrMsg);
  expect(message != nullptr, "a message", "aclrtMallocHost");
  unsigned long long size = 0, left = 0, total = 1;
  std::sscanf(message, "aclrtMallocHost: size is %llu, but only %llu of this machine's %llu", &size,
              &left, &total);
  expect(left == total, "all memory to be free; bytes in use:", "",
         static_cast<long long>(total - left));
}

}  // namespace

void State::begin() {
  expect(CALL(aclInit, nullptr) == 0, "success", "aclInit");
  expect(CALL(aclrtSetDevice, 0) == 0, "success", "aclrtSetDevice");
  void* bench = nullptr;
  const int status = CALL(aclrtMalloc, &bench, kSlots * kSlotBytes, ACL_MEM_MALLOC_HUGE_FIRST);
  expect(status == 0, "success", "aclrtMalloc", status);
  CALL(aclrtMemset, bench, kSlots * kSlotBytes, 0, kSlots * kSlotBytes);
  bench_ = static_cast<std::byte*>(bench);
}

void State::end() {
  end_shortage();
  let_waits_end();
  end_of_runtime();
  end_of_things();
  rest_reporter();
  const int status = CALL(aclFinalize);
  expect(status == 0 || status == ACL_ERROR_REPEAT_FINALIZE, "an end", "aclFinalize", status);
  expect_all_memory_free();
  forget_shortages();
}

void State::end_of_runtime() {
  for (const Subscription& each : subscriptions)
    CALL(aclrtUnSubscribeReport, each.thread, each.stream);
  for (const Thing& stream : things[kStream])
    if (stream.is_live) CALL(aclrtDestroyStreamForce, stream.value);
  for (const Thing& context : things[kContext])
    if (context.is_live) CALL(aclrtDestroyContext, context.value);
  for (int32_t device : {0, 1}) CALL(aclrtResetDeviceForce, device);
  for (const Thing& stream : things[kStream]) {
    int32_t id = 0;
    const int status = CALL(aclrtStreamGetId, stream.value, &id);
    expect(status != 0, "no stream to be left", "aclrtStreamGetId");
  }
}

void State::end_of_things() {
  CALL(aclrtSetDevice, 0);
  for (Share& each : shares)
    while (each.imports > 0 || each.is_exported) close_share(&each, each.key.data());
  for (void* each : registered)
    expect(CALL(aclrtHostUnregister, each) == 0, "success", "aclrtHostUnregister");
  for (const Mapping& each : mappings)
    expect(CALL(aclrtUnmapMem, each.address) == 0, "success", "aclrtUnmapMem");
  for (size_t kind = 0; kind < kKinds; ++kind) {
    if (kind == kContext || kind == kStream) continue;
    for (size_t i = 0; i < things[kind].size(); ++i)
      if (things[kind][i].is_live)
        destroy_thing(*this, static_cast<Kind>(kind), things[kind][i].value);
  }
  workspaces_.push_back(bench_);
  for (void* each : workspaces_) expect(CALL(aclrtFree, each) == 0, "success", "aclrtFree");
}

void State::add(Kind kind, Thing thing) {
  // Of a handle; if destroyed things kept their slots, numbers would grow without end.
  const size_t slot = reinterpret_cast<uintptr_t>(thing.value) & 0xFFFFFF;
  expect(kind >= kDeviceMemory || slot < 20000, "slots to be used again; slot", "",
         static_cast<long long>(slot));
  things[kind].push_back(std::move(thing));
}

Thing* State::find(Kind kind, const void* value) {
  const auto found =
      std::find_if(things[kind].rbegin(), things[kind].rend(),
                   [value](const Thing& each) { return each.is_live && each.value == value; });
  return found == things[kind].rend() ? nullptr : &*found;
}

void State::destroyed(Kind kind, const void* value, int status) {
  if (is_shortage(status)) return;
  Thing* thing = find(kind, value);
  const bool is_list = kind == kTensorList || kind == kScalarList;
  const Kind members = kind == kTensorList ? kTensor : kScalar;
  // Of a list with a dead member, the others are destroyed all the same.
  const bool is_whole =
      !is_list || thing == nullptr ||
      std::all_of(thing->members.begin(), thing->members.end(), [&](const void* member) {
        return member == nullptr || find(members, member) != nullptr;
      });
  expect((status == 0) == (thing != nullptr && is_whole),
         "only live things to be destroyed; status", "", status);
  if (thing == nullptr) return;
  thing->is_live = false;
  if (!is_list) return;
  for (void* member : thing->members)
    if (Thing* found = find(members, member)) found->is_live = false;
}

void State::used(Kind kind, const void* value, int status, const char* function) {
  if (status == 0) expect(find(kind, value) != nullptr, "a live thing", function);
}

void* State::pick(Kind kind) { return in.byte() < 232 ? pick_live(kind) : pick_wrong(kind); }

void* State::pick_live(Kind kind) {
  const size_t wanted = in.once_in(8) ? in.below(16) : in.below(3);
  for (bool again = true;; again = false) {
    void* last = nullptr;
    size_t seen = 0;
    for (auto each = things[kind].rbegin(); each != things[kind].rend(); ++each) {
      if (!each->is_live) continue;
      last = each->value;
      if (seen++ == wanted) return last;
    }
    if (last != nullptr || !again) return last;
    make(kind);
  }
}

void* State::pick_wrong(Kind kind) {
  const auto some_of = [this](const std::vector<Thing>& all) {
    return all.empty() ? nullptr : all[in.byte() % all.size()].value;
  };
  switch (in.below(6)) {
    case 0:
      return nullptr;
    case 1:
      return some_of(things[in.below(kKinds)]);
    case 2: {
      const auto bits = reinterpret_cast<uintptr_t>(some_of(things[kind]));
      return reinterpret_cast<void*>(bits ^ uintptr_t{1} << in.below(64));
    }
    case 3:
      return reinterpret_cast<void*>(in.number());
    case 4:
      return programs_memory + in.byte();
    default:
      return some_of(things[kind]);
  }
}

void State::make(Kind kind) {
  static constexpr void (*kMakers[kKinds])(State&) = {
      make_tensor,     make_scalar,        make_int_array,   make_float_array,
      make_bool_array, make_tensor_list,   make_scalar_list, make_executor,
      make_context,    make_stream,        make_event,       make_graph,
      make_physical,   make_device_memory, make_host_memory, make_reservation,
  };
  kMakers[kind](*this);
}

Place State::place() {
  const size_t choice = in.below(16);
  if (choice < 4) {
    const size_t offset = in.bits<uint16_t>() % (sizeof programs_memory);
    return {programs_memory + offset, sizeof programs_memory - offset, true};
  }
  if (choice == 4) return {nowhere(), 8};
  if (choice == 5 && !mappings.empty()) {
    const Mapping& some = mappings[in.byte() % mappings.size()];
    const size_t offset = in.once_in(2) ? some.bytes - 1 - in.byte() : 0;
    return {some.address + offset, some.bytes - offset};
  }
  const Kind kind = choice < 8 ? kHostMemory : kDeviceMemory;
  auto* address = static_cast<std::byte*>(pick_live(kind));
  const Thing* thing = find(kind, address);
  if (thing == nullptr) return {nullptr, 0};
  const size_t offset = in.once_in(4) ? in.bits<uint16_t>() % thing->bytes : 0;
  return {address + offset, thing->bytes - offset};
}

// Where no program has memory, or has none any more.
void* State::nowhere() {
  const auto& all = things[in.once_in(2) ? kHostMemory : kDeviceMemory];
  switch (in.below(4)) {
    case 0:
      return nullptr;
    case 1:
      return reinterpret_cast<void*>(uintptr_t{1} + in.byte());
    case 2:
      return reinterpret_cast<void*>(uintptr_t{1} << 62 | in.bits<uint32_t>());
    default:
      return all.empty() ? nullptr : all[in.byte() % all.size()].value;
  }
}

void* State::room(size_t bytes) {
  if (!mappings.empty() && in.once_in(16)) {
    const Mapping& some = mappings[in.byte() % mappings.size()];
    if (bytes <= some.bytes) return some.address;
  }
  if (bytes <= kSlotBytes) return bench_ + kSlotBytes * (next_slot_++ % kSlots);
  void* address = nullptr;
  if (CALL(aclrtMalloc, &address, bytes, ACL_MEM_MALLOC_HUGE_FIRST) == 0)
    add(kDeviceMemory, {address, true, bytes});
  return address;
}

void* State::workspace(size_t bytes) {
  void* address = nullptr;
  if (CALL(aclrtMalloc, &address, bytes, ACL_MEM_MALLOC_HUGE_FIRST) == 0)
    workspaces_.push_back(address);
  return address;
}

bool State::is_needed(const void* address) const {
  return address == bench_ ||
         std::find(workspaces_.begin(), workspaces_.end(), address) != workspaces_.end();
}

void State::let_waits_end() {
  if (!std::exchange(nobody_runs, false)) return;
  others_run = true;
  end_shortage();
  for (const Subscription& each : subscriptions)
    CALL(aclrtUnSubscribeReport, each.thread, each.stream);
}

bool State::is_quiet() {
  if (!others_run) return true;
  let_waits_end();
  bool quiet = true;
  for (int32_t device : {1, 0}) {
    CALL(aclrtSetDevice, device);
    end_captures(*this);
    const int status = CALL(aclrtSynchronizeDevice);
    quiet = quiet && (status == 0 || status == 361001);
  }
  return quiet;
}

}  // namespace fuzz
