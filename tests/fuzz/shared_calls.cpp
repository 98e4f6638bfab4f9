// SPDX-License-Identifier: Apache-2.0
// Memory that processes share by keys, memory of the host that operators may use, and where an
// address is.
#include <algorithm>
#include <cstring>
#include <iterator>

#include "calls.h"

namespace fuzz {
namespace {

alignas(4096) std::byte host[4 * 4096];

uint64_t flags_of(State& s) { return s.in.once_in(24) ? s.in.byte() : s.in.below(2); }

// Mostly the key of a share, sometimes a wrong one. Null without shares.
Share* pick_share(State& s) {
  if (s.shares.empty()) export_memory(s);
  return s.shares.empty() ? nullptr : &s.shares[s.in.byte() % s.shares.size()];
}

const char* key_of(State& s, const Share* share, ShareKey& wrong) {
  if (share == nullptr || s.in.once_in(32)) return nullptr;
  wrong = share->key;
  if (s.in.once_in(16)) wrong[s.in.below(wrong.size() - 1)] = static_cast<char>(s.in.byte());
  return wrong.data();
}

bool is_of(const Share& share, const char* key) {
  return key != nullptr && std::strcmp(share.key.data(), key) == 0;
}

void get_key(State& s) {
  s.let_waits_end();
  const Place place = s.place();
  const size_t size = s.in.once_in(8) ? s.in.bytes_of(place.room) : place.room;
  Share made;
  char* const key = s.in.once_in(32) ? nullptr : made.key.data();
  const size_t length = s.in.once_in(24) ? s.in.below(made.key.size()) : made.key.size();
  if (CALL(aclrtIpcMemGetExportKey, place.address, size, key, length, flags_of(s)) == 0)
    s.shares.push_back(made);
}

void set_processes(State& s) {
  ShareKey copy;
  int32_t processes[4];
  for (int32_t& each : processes) each = static_cast<int32_t>(s.in.number());
  const char* key = key_of(s, pick_share(s), copy);
  CALL(aclrtIpcMemSetImportPid, key, s.in.once_in(32) ? nullptr : processes,
       s.in.below(std::size(processes) + 1));
}

void import_key(State& s) {
  ShareKey copy;
  void* address = nullptr;
  Share* const share = pick_share(s);
  const char* key = key_of(s, share, copy);
  const int status = CALL(aclrtIpcMemImportByKey, s.out(address), key, flags_of(s));
  expect((status == 0) == (address != nullptr), "memory exactly on success",
         "aclrtIpcMemImportByKey", status);
  if (status != 0) return;
  expect(is_of(*share, key), "a key that was exported", "aclrtIpcMemImportByKey");
  expect(share->imports == 0 || share->address == address, "one place for a key",
         "aclrtIpcMemImportByKey");
  share->address = address, ++share->imports;
  CALL(aclrtMemset, address, 1, 1, 1);
}

// Waits for all work, which captures forbid, and takes memory away, as freeing does.
void close_key(State& s) {
  s.others_run = true;
  if (!s.is_quiet()) return;
  end_captures(s);
  ShareKey copy;
  Share* const share = pick_share(s);
  const char* key = key_of(s, share, copy);
  const bool is_known = share != nullptr && is_of(*share, key);
  close_share(is_known ? share : nullptr, key);
}

void register_host(State& s) {
  const size_t offset = s.in.bits<uint16_t>() % sizeof host;
  const size_t size = s.in.once_in(16) ? 0 : 1 + s.in.bits<uint16_t>() % (sizeof host - offset);
  void* const memory = s.in.once_in(16) ? s.pick(kDeviceMemory) : host + offset;
  if (s.in.once_in(2)) {
    const uint32_t flag = s.in.once_in(16) ? s.in.bits<uint32_t>() : ACL_HOST_REG_MAPPED;
    const int status = CALL(aclrtHostRegisterV2, memory, size, flag);
    if (status == 0) s.registered.push_back(memory);
    return;
  }
  void* address = nullptr;
  const auto type = static_cast<aclrtHostRegisterType>(s.in.enumerator(1));
  const int status = CALL(aclrtHostRegister, memory, size, type, s.out(address));
  expect(status != 0 || address == memory, "the same address", "aclrtHostRegister", status);
  if (status == 0) s.registered.push_back(memory);
}

void* registered(State& s) {
  if (s.registered.empty() || s.in.once_in(8)) return host + s.in.bits<uint16_t>() % sizeof host;
  return s.registered[s.in.byte() % s.registered.size()];
}

void unregister_host(State& s) {
  void* const address = s.in.once_in(32) ? s.pick(kHostMemory) : registered(s);
  const auto found = std::find(s.registered.begin(), s.registered.end(), address);
  const int status = CALL(aclrtHostUnregister, address);
  expect((status == 0) == (found != s.registered.end()) || is_shortage(status),
         "only registered memory to be unregistered", "", status);
  if (status == 0) s.registered.erase(found);
}

void device_pointer(State& s) {
  void *device = nullptr, *const address = registered(s);
  const uint32_t flag = s.in.once_in(24) ? s.in.byte() : 0;
  const int status = CALL(aclrtHostGetDevicePointer, address, s.out(device), flag);
  expect(status != 0 || device == address, "the same address", "aclrtHostGetDevicePointer", status);
}

void attributes(State& s) {
  aclrtPtrAttributes found = {};
  const void* address = s.in.once_in(2) ? registered(s) : s.place().address;
  CALL(aclrtPointerGetAttributes, address, s.out(found));
}

constexpr Call kCalls[] = {
    {"aclrtIpcMemGetExportKey", get_key, 4},   {"aclrtIpcMemSetImportPid", set_processes, 4},
    {"aclrtIpcMemImportByKey", import_key, 4}, {"aclrtIpcMemClose", close_key, 4},
    {"aclrtHostRegister", register_host},      {"aclrtHostRegisterV2", register_host},
    {"aclrtHostUnregister", unregister_host},  {"aclrtHostGetDevicePointer", device_pointer},
    {"aclrtPointerGetAttributes", attributes},
};

}  // namespace

Room shared_calls() { return {kCalls, std::size(kCalls)}; }

void export_memory(State& s) {
  s.let_waits_end();
  void* const memory = s.pick_live(kDeviceMemory);
  const Thing* thing = s.find(kDeviceMemory, memory);
  Share made;
  if (thing != nullptr &&
      CALL(aclrtIpcMemGetExportKey, memory, thing->bytes, made.key.data(), made.key.size(), 0) == 0)
    s.shares.push_back(made);
}

void close_share(Share* share, const char* key) {
  const bool is_live = share != nullptr && (share->imports > 0 || share->is_exported);
  const int status = CALL(aclrtIpcMemClose, key);
  if (status == ACL_ERROR_RT_CONTEXT_NULL || is_shortage(status)) return;
  expect((status == 0) == is_live, "only what is shared to be closed", "aclrtIpcMemClose", status);
  if (status == 0 && share->imports > 0)
    --share->imports;
  else if (status == 0)
    share->is_exported = false;
}

}  // namespace fuzz
