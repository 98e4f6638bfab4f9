// SPDX-License-Identifier: Apache-2.0
// Things that occupy bytes, which may overlap. Those that meet given bytes are found in about the
// time that it takes to list them, however many others there are.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <map>
#include <utility>

namespace softnpu::checkers {

template <class Thing>
class ByAddress {
 public:
  size_t size() const { return size_; }

  void add(uintptr_t begin, uintptr_t end, Thing thing) {
    by_length_[std::bit_width(end - begin)].emplace(begin, Item{end, std::move(thing)});
    ++size_;
  }

  template <class Body>
  void for_each(Body&& body) const {
    for (const auto& [bits, items] : by_length_)
      for (const auto& [begin, item] : items) body(item.thing);
  }

  template <class Body>
  void for_each_that_meets(uintptr_t begin, uintptr_t end, Body&& body) const {
    for (const auto& [bits, items] : by_length_)
      for (auto next = items.lower_bound(first_that_may_meet(begin, bits));
           next != items.end() && next->first < end; ++next)
        if (next->second.end > begin) body(next->second.thing);
  }

  // The same, and erases those for which `predicate` is true.
  template <class Predicate>
  void erase_that_meet(uintptr_t begin, uintptr_t end, Predicate&& predicate) {
    for (auto& [bits, items] : by_length_)
      for (auto next = items.lower_bound(first_that_may_meet(begin, bits));
           next != items.end() && next->first < end;) {
        const bool is_over = next->second.end > begin && predicate(next->second.thing);
        size_ -= is_over;
        next = is_over ? items.erase(next) : std::next(next);
      }
  }

  template <class Predicate>
  void erase_if(Predicate&& predicate) {
    for (auto& [bits, items] : by_length_)
      size_ -= std::erase_if(items, [&](const auto& item) { return predicate(item.second.thing); });
  }

 private:
  struct Item {
    uintptr_t end;
    Thing thing;
  };

  // Things are kept by the number of bits of their length, which is below 2^bits.
  static uintptr_t first_that_may_meet(uintptr_t begin, int bits) {
    const uintptr_t longest = bits < 64 ? uintptr_t{1} << bits : UINTPTR_MAX;
    return begin > longest ? begin - longest : 0;
  }

  std::map<int, std::multimap<uintptr_t, Item>> by_length_;
  size_t size_ = 0;
};

}  // namespace softnpu::checkers
