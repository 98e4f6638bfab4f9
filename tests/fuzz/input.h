// SPDX-License-Identifier: Apache-2.0
// The fuzzer's bytes as choices. Input that has ended reads as zeros, which stand for right
// choices.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace fuzz {

class Input {
 public:
  Input(const uint8_t* data, size_t size) : at_(data), end_(data + size) {}

  bool is_empty() const { return at_ == end_; }
  uint8_t byte() { return at_ == end_ ? 0 : *at_++; }
  size_t below(size_t count) { return byte() % count; }  // at most 256
  bool once_in(size_t count) { return byte() % count == count - 1; }

  template <class T>
  T bits() {
    uint8_t bytes[sizeof(T)];
    for (uint8_t& each : bytes) each = byte();
    T value;
    std::memcpy(&value, bytes, sizeof value);
    return value;
  }
  template <class T, size_t kCount>
  T one_of(const T (&values)[kCount]) {
    return values[below(kCount)];
  }

  // Mostly small; else where 32 or 64 bits, or products of sizes, end.
  int64_t number() {
    static const int64_t kEdges[] = {-1,        INT64_MIN, INT64_MAX, INT32_MAX,     INT32_MIN,
                                     1LL << 32, 1LL << 56, 1LL << 62, INT64_MAX / 8, 0xFFFFFFFFLL,
                                     1LL << 40, -1000};
    if (!once_in(8)) return static_cast<int64_t>(below(16));
    return once_in(4) ? bits<int64_t>() : one_of(kEdges);
  }
  // How many bytes: mostly not more than there are.
  size_t bytes_of(size_t room) {
    if (once_in(10)) return static_cast<size_t>(number());
    if (once_in(10)) return room + 1 + below(70);
    return room >= 65536 ? bits<uint16_t>() : bits<uint16_t>() % (room + 1);
  }
  // An enumerator's number, mostly of [0, count).
  int32_t enumerator(size_t count) {
    return once_in(12) ? static_cast<int32_t>(number()) : static_cast<int32_t>(below(count));
  }

 private:
  const uint8_t* at_;
  const uint8_t* end_;
};

}  // namespace fuzz
