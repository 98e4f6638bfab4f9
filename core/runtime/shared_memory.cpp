// SPDX-License-Identifier: Apache-2.0
#include "runtime/shared_memory.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <map>
#include <memory>
#include <mutex>

#include "base/fork.h"
#include "base/lasting.h"
#include "base/observer.h"
#include "base/page_size.h"
#include "runtime/device.h"
#include "runtime/physical_pool.h"
#include "runtime/registry.h"
#include "runtime/shared_file.h"
#include "runtime/virtual_memory.h"

namespace softnpu::runtime {
namespace {

struct Import {
  std::byte* range;  // with whole pages around the memory
  size_t range_size;
  std::byte* memory;
  size_t size;
  size_t count = 1;
};

// The lock is held during whole calls, so that observers see them in their order.
struct Shares {
  Shares() { keep_free_over_fork(*this, LockRank::outer); }
  void lock_for_fork() { mutex.lock(); }
  void unlock_after_fork() { mutex.unlock(); }
  void renew_in_forked_child() noexcept {
    std::construct_at(&mutex);
    file.renew();
    exports.clear();
    has_exports = false;
  }

  std::mutex mutex;
  SharedFile file;
  std::map<std::string, SharedSlot*> exports;
  std::map<std::string, Import> imports;
  std::atomic<bool> has_exports{false};
};

Shares& shares() { return lasting<Shares>; }

Status unknown_key(const std::string& key) {
  return fail("ipc-key"_rule, kRtParamInvalid, "key is \"", key,
              "\", which aclrtIpcMemGetExportKey has not returned, or which was closed");
}

// Finds the device of memory that may be shared.
Status find_memory(const void* address, size_t size, int32_t& device) {
  RETURN_IF_FAILED(check_not_zero(size));
  RETURN_IF_FAILED(check_range("devPtr", address, size));
  Registry& r = registry();
  std::shared_lock lock(r.mutex);
  const auto found = r.containing(address);
  if (found == r.live.end() || found->second.family != Family::device)
    return fail("ipc-memory"_rule, kRtParamInvalid,
                "devPtr is no memory of aclrtMalloc, which alone can be shared by keys");
  device = found->second.device;
  return {};
}

}  // namespace

Status export_memory(const void* address, size_t size, bool is_for_all, std::string& key) {
  int32_t device = 0;
  RETURN_IF_FAILED(find_memory(address, size, device));
  RETURN_IF_FAILED(wait_for_all_devices());
  Shares& s = shares();
  std::lock_guard own(s.mutex);
  RETURN_IF_FAILED(s.file.share(page_below(number(address)), page_above(number(address) + size)));
  SharedPlace place = {};
  SharedSlot* slot = nullptr;
  RETURN_IF_FAILED(s.file.add_slot(place, slot));
  key = place.key();
  s.exports.emplace(key, slot);
  slot->device = device;
  slot->address = number(address);
  slot->size = size;
  slot->is_for_all = is_for_all;
  slot->is_open = true;
  s.has_exports = true;
  return {};
}

Status allow_processes(const std::string& key, std::span<const int32_t> processes) {
  Shares& s = shares();
  std::lock_guard own(s.mutex);
  const auto found = s.exports.find(key);
  if (found == s.exports.end()) return unknown_key(key);
  auto& allowed = found->second->processes;
  for (const int32_t process : processes) {
    const auto is_free_or = [process](const auto& one) { return one == 0 || one == process; };
    const auto place = std::find_if(allowed.begin(), allowed.end(), is_free_or);
    if (place == allowed.end())
      return fail("ipc-processes"_rule, kRtParamInvalid, "num is ", processes.size(),
                  "; a key can name ", allowed.size(), " processes");
    *place = process;
  }
  return {};
}

namespace {

Status check_open(const SharedSlot& slot, const std::string& key, int32_t exporter) {
  if (!slot.is_open) return unknown_key(key);
  const int32_t self = getpid();
  const auto& allowed = slot.processes;
  if (slot.is_for_all || exporter == self ||
      std::find(allowed.begin(), allowed.end(), self) != allowed.end())
    return {};
  return fail("ipc-process"_rule, kRtParamInvalid, "key is for other processes: this one is ", self,
              "; the process ", exporter, " must name it by aclrtIpcMemSetImportPid");
}

// Maps the pages of the file at addresses of their own.
Status map_pages(const OpenedSlot& opened, Import& out) {
  const uintptr_t first = page_below(opened.slot->address);
  const size_t lead = opened.slot->address - first;
  const size_t mapped = page_above(lead + opened.slot->size);
  out.range_size = (mapped + kGranularity - 1) / kGranularity * kGranularity;
  out.size = opened.slot->size;
  Registry& r = registry();
  std::lock_guard lock(r.mutex);
  // Made first, because it may fail.
  decltype(r.live) one{{0, Allocation{out.size, Family::imported, ++r.time, opened.slot->device}}};
  auto entry = one.extract(one.begin());
  out.range = r.reserved_arena.take_addresses(out.range_size, kGranularity);
  if (out.range == nullptr ||
      mmap(kernel_address(out.range), mapped, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED,
           opened.file, static_cast<off_t>(first)) == MAP_FAILED) {
    if (out.range != nullptr) r.reserved_arena.free_addresses(out.range, out.range_size);
    return fail("out-of-addresses"_rule, kRtMemoryAllocation, "the memory has ", out.size,
                " bytes, and the system has no such range left");
  }
  out.memory = out.range + lead;
  entry.key() = number(out.memory);
  r.live.insert(std::move(entry));
  return {};
}

void unmap(const Import& import) {
  notify(&Observer::releasing, Family::imported, import.memory, import.size);
  map_inaccessible(kernel_address(import.range), import.range_size);
  Registry& r = registry();
  std::lock_guard lock(r.mutex);
  r.live.erase(number(import.memory));
  ++r.time;
  r.reserved_arena.free_addresses(import.range, import.range_size);
}

}  // namespace

Status import_memory(const std::string& key, void** out) {
  SharedPlace place = {};
  if (!SharedPlace::parse(key.c_str(), place)) return unknown_key(key);
  Shares& s = shares();
  std::lock_guard own(s.mutex);
  if (const auto found = s.imports.find(key); found != s.imports.end()) {
    ++found->second.count;
    *out = found->second.memory;
    return {};
  }
  OpenedSlot opened;
  RETURN_IF_FAILED(open_slot(place, opened));
  RETURN_IF_FAILED(check_open(*opened.slot, key, place.process));
  std::map<std::string, Import> one{{key, {}}};
  Import& made = one.begin()->second;
  RETURN_IF_FAILED(map_pages(opened, made));
  notify(&Observer::allocated, Family::imported, made.memory, made.size);
  notify(&Observer::kept, made.memory, made.size);
  *out = made.memory;
  s.imports.insert(one.extract(one.begin()));
  return {};
}

Status close_shared_memory(const std::string& key) {
  RETURN_IF_FAILED(wait_for_all_devices());
  Shares& s = shares();
  std::lock_guard own(s.mutex);
  if (const auto found = s.imports.find(key); found != s.imports.end()) {
    if (--found->second.count > 0) return {};
    unmap(found->second);
    s.imports.erase(found);
    return {};
  }
  const auto found = s.exports.find(key);
  if (found == s.exports.end()) return unknown_key(key);
  found->second->is_open = false;
  munmap(found->second, page_size());
  s.exports.erase(found);
  return {};
}

void end_exports(const std::byte* base, size_t size) {
  Shares& s = shares();
  if (!s.has_exports) return;
  std::lock_guard own(s.mutex);
  for (auto& [key, slot] : s.exports)
    if (slot->address - number(base) < size) slot->is_open = false;
}

}  // namespace softnpu::runtime
