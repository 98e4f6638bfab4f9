// SPDX-License-Identifier: Apache-2.0
// An array whose length is known when it is made. Few elements need no allocation.
#pragma once

#include <cstddef>
#include <memory>

namespace softnpu {

template <class T, size_t kInline = 8>
class Few {
 public:
  explicit Few(size_t size) {
    if (size > kInline) heap_ = std::make_unique_for_overwrite<T[]>(size);
  }
  T* data() { return heap_ ? heap_.get() : inline_; }
  T& operator[](size_t i) { return data()[i]; }

 private:
  T inline_[kInline];
  std::unique_ptr<T[]> heap_;
};

}  // namespace softnpu
