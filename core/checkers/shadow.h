// SPDX-License-Identifier: Apache-2.0
// One bit for each byte of an allocation: whether the byte was written. The longest run of written
// bytes is known by its ends, because most programs write whole allocations.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <new>

namespace softnpu::checkers {

class Shadow {
 public:
  explicit Shadow(size_t size) : size_(size), words_(zeros(size / 64 + 1)) {}

  size_t size() const { return size_; }

  void set(size_t begin, size_t end, bool value) {
    if (begin >= end || (value && is_in_run(begin, end))) return;
    note_run(begin, end, value);
    const size_t first = begin / 64, last = (end - 1) / 64;
    if (first == last) return set_bits(first, from(begin) & up_to(end), value);
    set_bits(first, from(begin), value);
    std::fill(words_.get() + first + 1, words_.get() + last, value ? kAll : 0);
    set_bits(last, up_to(end), value);
  }

  // The first unwritten byte; `end` if there is none.
  size_t first_unwritten(size_t begin, size_t end) const {
    return is_in_run(begin, end) ? end : first_with(false, begin, end);
  }

  // Copies the written bits [begin, end) of another allocation to those from `at` on.
  void copy(size_t at, const Shadow& other, size_t begin, size_t end) {
    for (bool value = true; begin < end; value = !value) {
      const size_t next = other.first_with(!value, begin, end);
      set(at, at + (next - begin), value);
      at += next - begin;
      begin = next;
    }
  }

 private:
  struct Free {
    void operator()(uint64_t* words) const { std::free(words); }
  };
  using Words = std::unique_ptr<uint64_t[], Free>;

  // Does not touch the words, because only a part of a large allocation may be used.
  static Words zeros(size_t count) {
    Words words(static_cast<uint64_t*>(std::calloc(count, sizeof(uint64_t))));
    if (!words) throw std::bad_alloc();
    return words;
  }

  bool is_in_run(size_t begin, size_t end) const { return run_begin_ <= begin && end <= run_end_; }

  void note_run(size_t begin, size_t end, bool value) {
    const bool meets = begin <= run_end_ && run_begin_ <= end;
    if (!value) {
      if (meets) run_begin_ = run_end_ = 0;
    } else if (meets) {
      run_begin_ = std::min(run_begin_, begin);
      run_end_ = std::max(run_end_, end);
    } else if (end - begin > run_end_ - run_begin_) {
      run_begin_ = begin;
      run_end_ = end;
    }
  }

  static constexpr uint64_t kAll = ~uint64_t{0};
  // Masks for the bits of a word from `begin` on, and for those before `end`.
  static uint64_t from(size_t begin) { return kAll << (begin % 64); }
  static uint64_t up_to(size_t end) { return kAll >> (63 - (end - 1) % 64); }

  size_t first_with(bool value, size_t begin, size_t end) const {
    if (begin >= end) return end;
    const size_t last = (end - 1) / 64;
    for (size_t i = begin / 64; i <= last; ++i) {
      uint64_t bits = value ? words_[i] : ~words_[i];
      if (bits == 0) [[likely]]
        continue;
      if (i == begin / 64) bits &= from(begin);
      if (i == last) bits &= up_to(end);
      if (bits != 0) return i * 64 + static_cast<size_t>(__builtin_ctzll(bits));
    }
    return end;
  }

  void set_bits(size_t word, uint64_t bits, bool value) {
    words_[word] = value ? words_[word] | bits : words_[word] & ~bits;
  }

  size_t size_;
  size_t run_begin_ = 0, run_end_ = 0;
  Words words_;
};

}  // namespace softnpu::checkers
