// SPDX-License-Identifier: Apache-2.0
// The dimensions of an elementwise operator during the classification of its layout.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "loops/elementwise.h"

namespace softnpu::loops {

struct Dimension {
  int64_t size;
  std::array<int64_t, kMaxOperands> stride;
};

// Up to eight dimensions need no allocation.
class Dimensions {
 public:
  explicit Dimensions(size_t most) {
    if (most > kInline) heap_.resize(most);
  }
  size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  Dimension& operator[](size_t i) { return heap_.empty() ? inline_[i] : heap_[i]; }
  const Dimension& operator[](size_t i) const { return heap_.empty() ? inline_[i] : heap_[i]; }
  const Dimension& back() const { return (*this)[size_ - 1]; }
  void truncate(size_t size) { size_ = size; }
  void erase(size_t i) {
    for (--size_; i < size_; ++i) (*this)[i] = (*this)[i + 1];
  }
  // Inserts after all dimensions whose key is not less.
  template <class Key>
  void insert_sorted(const Dimension& dimension, const Key& key) {
    size_t i = size_++;
    for (; i > 0 && key((*this)[i - 1]) < key(dimension); --i) (*this)[i] = (*this)[i - 1];
    (*this)[i] = dimension;
  }

 private:
  static constexpr size_t kInline = 8;
  size_t size_ = 0;
  std::array<Dimension, kInline> inline_;
  std::vector<Dimension> heap_;
};

}  // namespace softnpu::loops
