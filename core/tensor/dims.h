// SPDX-License-Identifier: Apache-2.0
// A short list of int64: sizes or strides. Ranks up to 8 need no allocation.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "base/checked.h"
#include "base/text.h"

namespace softnpu {

// Returns the value. Prevents compilers from turning a loop into a call of memmove or memset, which
// is slow for the few sizes of a shape.
inline int64_t one_by_one(int64_t value) {
  asm("" : "+r"(value));
  return value;
}
inline void copy_few(const int64_t* from, size_t count, int64_t* to) {
  for (size_t i = 0; i < count; ++i) to[i] = one_by_one(from[i]);
}

class Dims {
 public:
  Dims() {}  // leaves the elements uninitialised, for fast small calls
  explicit Dims(size_t size, int64_t value = 0) : Dims(size, Unset()) {
    for (int64_t& each : *this) each = one_by_one(value);
  }
  Dims(const int64_t* begin, const int64_t* end) : Dims(std::span(begin, end)) {}
  Dims(std::initializer_list<int64_t> values) : Dims(std::span(values.begin(), values.size())) {}
  explicit Dims(std::span<const int64_t> values) : Dims(values.size(), Unset()) {
    copy_few(values.data(), size_, data());
  }
  Dims(const Dims& other) : Dims(std::span<const int64_t>(other)) {}
  Dims(Dims&& other) noexcept : size_(other.size_), heap_(std::move(other.heap_)) {
    if (size_ <= kInline) copy_few(other.inline_, size_, inline_);
  }
  Dims& operator=(const Dims& other) {
    if (this == &other) return *this;
    std::destroy_at(this);
    return *std::construct_at(this, other);
  }
  Dims& operator=(Dims&& other) noexcept {
    if (this == &other) return *this;
    std::destroy_at(this);
    return *std::construct_at(this, std::move(other));
  }

  size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  int64_t* data() { return heap_ ? heap_.get() : inline_; }
  const int64_t* data() const { return heap_ ? heap_.get() : inline_; }
  int64_t* begin() { return data(); }
  int64_t* end() { return data() + size_; }
  const int64_t* begin() const { return data(); }
  const int64_t* end() const { return data() + size_; }
  int64_t& operator[](size_t i) { return data()[i]; }
  int64_t operator[](size_t i) const { return data()[i]; }
  int64_t back() const { return data()[size_ - 1]; }
  operator std::span<const int64_t>() const { return {data(), size_}; }

  friend bool operator==(const Dims& a, const Dims& b) {
    if (a.size_ != b.size_) return false;
    const int64_t *const x = a.data(), *const y = b.data();
    for (size_t i = 0; i < a.size_; ++i)
      if (x[i] != y[i]) return false;
    return true;
  }

 private:
  struct Unset {};
  Dims(size_t size, Unset) : size_(size) {
    if (size > kInline) heap_ = std::make_unique_for_overwrite<int64_t[]>(size);
  }

  static constexpr size_t kInline = 8;
  size_t size_ = 0;
  int64_t inline_[kInline];
  std::unique_ptr<int64_t[]> heap_;
};

inline std::string to_text(const Dims& dims) {
  std::string out = "[";
  for (size_t i = 0; i < dims.size(); ++i) {
    if (i) out += ", ";
    append_text(out, dims[i]);
  }
  return out += "]";
}

// The number of elements; nothing if it does not fit int64.
inline std::optional<int64_t> checked_numel(std::span<const int64_t> sizes) {
  int64_t n = 1;
  bool fits = true;
  for (int64_t size : sizes) {
    if (size == 0) return 0;
    const auto product = fits ? checked_mul(n, size) : std::nullopt;
    fits = product.has_value();
    n = product.value_or(1);
  }
  if (!fits) return std::nullopt;
  return n;
}

}  // namespace softnpu
