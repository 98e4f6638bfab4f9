// SPDX-License-Identifier: Apache-2.0
// Copies and fills. Their arguments are checked in the call. The asynchronous forms are checked
// again before they run, if memory was freed meanwhile.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/export.h"
#include "base/observer.h"
#include "base/status.h"
#include "runtime/memory.h"

namespace softnpu::runtime {

// The areas may overlap. The direction follows from the addresses; `kind`, an aclrtMemcpyKind, is
// what the caller says of it.
struct SOFTNPU_EXPORT Copy {
  void* dst;
  size_t dest_max;
  const void* src;
  size_t count;
  int32_t kind = 4;  // ACL_MEMCPY_DEFAULT: nothing is said

  bool is_empty() const { return count == 0; }

  // Memory that the runtime allocated after `time` is refused.
  Status check(uint64_t time = kNow) const;
  void run() const;
  std::vector<Access> accesses() const;  // for observers
  static constexpr auto kKind = Piece::Kind::copy;
};

// `height` rows of `width` bytes; a pitch is the distance between the starts of two rows.
struct SOFTNPU_EXPORT Copy2d {
  void* dst;
  size_t dpitch;
  const void* src;
  size_t spitch;
  size_t width;
  size_t height;
  int32_t kind = 4;  // ACL_MEMCPY_DEFAULT: nothing is said

  bool is_empty() const { return width == 0 || height == 0; }
  Status check(uint64_t time = kNow) const;
  void run() const;
  std::vector<Access> accesses() const;  // for observers
  static constexpr auto kKind = Piece::Kind::copy;
};

struct SOFTNPU_EXPORT Fill {
  void* ptr;
  size_t max_count;
  int32_t value;  // its low 8 bits go into every byte
  size_t count;

  Status check(uint64_t time = kNow) const;
  void run() const;
  std::vector<Access> accesses() const;  // for observers
  static constexpr auto kKind = Piece::Kind::fill;
};

}  // namespace softnpu::runtime
