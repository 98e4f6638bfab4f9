// SPDX-License-Identifier: Apache-2.0
// Which bytes of an allocation were written: one bit for each.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace softnpu::checkers {

class Shadow {
 public:
  explicit Shadow(size_t size) : size_(size), words_((size + 63) / 64) {}

  size_t size() const { return size_; }
  bool get(size_t at) const { return words_[at / 64] >> (at % 64) & 1; }

  void set(size_t begin, size_t end, bool value) {
    for (size_t at = begin; at < end;) {
      const size_t bit = at % 64, count = std::min(64 - bit, end - at);
      const uint64_t mask = (count == 64 ? ~uint64_t{0} : (uint64_t{1} << count) - 1) << bit;
      if (value)
        words_[at / 64] |= mask;
      else
        words_[at / 64] &= ~mask;
      at += count;
    }
  }

  // The first byte that was not written; `end` where all were.
  size_t first_unwritten(size_t begin, size_t end) const {
    for (size_t at = begin; at < end;) {
      const size_t bit = at % 64, count = std::min(64 - bit, end - at);
      const uint64_t mask = (count == 64 ? ~uint64_t{0} : (uint64_t{1} << count) - 1) << bit;
      const uint64_t missing = ~words_[at / 64] & mask;
      if (missing != 0) return at - bit + static_cast<size_t>(__builtin_ctzll(missing));
      at += count;
    }
    return end;
  }

 private:
  size_t size_;
  std::vector<uint64_t> words_;
};

}  // namespace softnpu::checkers
