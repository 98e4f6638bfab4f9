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
    if (begin >= end) return;
    const size_t first = begin / 64, last = (end - 1) / 64;
    if (first == last) return set_bits(first, from(begin) & up_to(end), value);
    set_bits(first, from(begin), value);
    std::fill(words_.begin() + static_cast<ptrdiff_t>(first) + 1,
              words_.begin() + static_cast<ptrdiff_t>(last), value ? kAll : 0);
    set_bits(last, up_to(end), value);
  }

  // The first byte that was not written; `end` where all were.
  size_t first_unwritten(size_t begin, size_t end) const {
    if (begin >= end) return end;
    const size_t last = (end - 1) / 64;
    for (size_t i = begin / 64; i <= last; ++i) {
      if (words_[i] == kAll) [[likely]]
        continue;
      uint64_t missing = ~words_[i];
      if (i == begin / 64) missing &= from(begin);
      if (i == last) missing &= up_to(end);
      if (missing != 0) return i * 64 + static_cast<size_t>(__builtin_ctzll(missing));
    }
    return end;
  }

 private:
  static constexpr uint64_t kAll = ~uint64_t{0};
  // The bits of a word from that of `begin` on, and up to that before `end`.
  static uint64_t from(size_t begin) { return kAll << (begin % 64); }
  static uint64_t up_to(size_t end) { return kAll >> (63 - (end - 1) % 64); }

  void set_bits(size_t word, uint64_t bits, bool value) {
    words_[word] = value ? words_[word] | bits : words_[word] & ~bits;
  }

  size_t size_;
  std::vector<uint64_t> words_;
};

}  // namespace softnpu::checkers
