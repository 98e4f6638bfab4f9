// SPDX-License-Identifier: Apache-2.0
// Opaque handles that distinguish live objects from dead, foreign and wrong-kind ones.
//
// A handle packs the kind (8 bits), a generation (32) and a slot (24). The generation of a slot
// changes when its object is destroyed, so a stale handle never refers to the next object in the
// slot. A table of addresses could not guarantee that.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "base/export.h"
#include "base/fork.h"
#include "base/observer.h"

namespace softnpu {

enum class HandleKind : uint8_t {
  tensor = 1,
  scalar,
  int_array,
  float_array,
  bool_array,
  tensor_list,
  scalar_list,
  executor,
  context,
  stream,
  event,
  graph,
  physical_memory,
  tensor_desc,
  data_buffer,
  reservation,  // not a handle but an address, which observers receive as one
};

struct HandleBits {
  HandleKind kind;
  uint32_t generation;
  uint32_t slot;

  static constexpr int kSlotBits = 24;
  static constexpr uint32_t kMaxSlots = 1u << kSlotBits;

  static HandleBits unpack(const void* handle) {
    const auto bits = reinterpret_cast<uintptr_t>(handle);
    return {static_cast<HandleKind>(bits >> 56),
            static_cast<uint32_t>((bits >> kSlotBits) & 0xFFFFFFFFu),
            static_cast<uint32_t>(bits & (kMaxSlots - 1))};
  }
  void* pack() const {
    return reinterpret_cast<void*>(static_cast<uintptr_t>(kind) << 56 |
                                   static_cast<uintptr_t>(generation) << kSlotBits | slot);
  }
};

// Describes a pointer that is not a live handle of the wanted kind: "a destroyed aclTensor", "an
// aclScalar", "not a handle of softnpu".
SOFTNPU_EXPORT std::string describe_handle(const void* handle, HandleKind wanted);

// A whole message: "array is an aclScalar; expected a live aclIntArray".
[[gnu::cold]] SOFTNPU_EXPORT std::string not_live(std::string_view argument, const void* handle,
                                                  HandleKind wanted);

// The failure of a runtime function; null and invalid handles have different codes.
[[gnu::cold]] SOFTNPU_EXPORT Status dead_handle(std::string_view argument, const void* handle,
                                                HandleKind wanted);

// Thread-safe; lives as long as the process. Objects are shared, so that a thread may destroy a
// handle while another thread still reads the object.
template <class T, HandleKind Kind>
class HandleTable {
 public:
  using Object = T;
  static constexpr HandleKind kKind = Kind;

  // Null when the table is full.
  void* insert(std::shared_ptr<T> object) {
    void* const handle = put(std::move(object));
    if (handle != nullptr) notify(&Observer::created, kKind, handle);
    return handle;
  }

  // Null when the handle is not a live one of this kind.
  std::shared_ptr<T> find(const void* handle) const {
    std::lock_guard lock(mutex_);
    const uint32_t slot = live_slot(handle);
    return slot == kNone ? nullptr : slots_[slot].object;
  }

  // Removes and returns the object; null when the handle is not a live one of this kind.
  std::shared_ptr<T> erase(const void* handle) {
    std::shared_ptr<T> object = take(handle);
    if (object != nullptr) notify(&Observer::destroyed, kKind, handle);
    return object;
  }

  bool replace(const void* handle, std::shared_ptr<T> object) {
    std::lock_guard lock(mutex_);
    const uint32_t slot = live_slot(handle);
    if (slot == kNone) return false;
    slots_[slot].object.swap(object);
    return true;
  }

 private:
  struct Slot {
    std::shared_ptr<T> object;
    uint32_t generation = 1;
  };
  static constexpr uint32_t kNone = UINT32_MAX;

  void* put(std::shared_ptr<T> object) {
    std::lock_guard lock(mutex_);
    uint32_t slot;
    if (!free_.empty()) {
      slot = free_.back();
      free_.pop_back();
    } else if (slots_.size() < HandleBits::kMaxSlots) {
      slot = static_cast<uint32_t>(slots_.size());
      if (free_.capacity() <= slot) free_.reserve(2 * size_t{slot} + 1);  // erase() cannot throw
      slots_.emplace_back();
    } else {
      return nullptr;
    }
    slots_[slot].object = std::move(object);
    return HandleBits{kKind, slots_[slot].generation, slot}.pack();
  }

  std::shared_ptr<T> take(const void* handle) {
    std::lock_guard lock(mutex_);
    const uint32_t slot = live_slot(handle);
    if (slot == kNone) return nullptr;
    ++slots_[slot].generation;
    free_.push_back(slot);
    return std::move(slots_[slot].object);
  }

  uint32_t live_slot(const void* handle) const {
    const HandleBits bits = HandleBits::unpack(handle);
    const bool live = bits.kind == kKind && bits.slot < slots_.size() &&
                      slots_[bits.slot].generation == bits.generation &&
                      slots_[bits.slot].object != nullptr;
    return live ? bits.slot : kNone;
  }

  mutable ProcessMutex<> mutex_;
  std::vector<Slot> slots_;
  std::vector<uint32_t> free_;
};

}  // namespace softnpu
