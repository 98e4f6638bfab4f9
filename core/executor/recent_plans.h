// SPDX-License-Identifier: Apache-2.0
// Parts of the last few plans, for what programs plan again and again and takes long to make. A
// part that stays the same also stays in the cache of every core that reads it.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>

#include "base/export.h"
#include "tensor/dims.h"

namespace softnpu {

// All that such a part depends on.
class PlanKey {
 public:
  PlanKey() = default;
  // The operator's name has to live as long as the process.
  explicit PlanKey(std::string_view name) : name_(name) {}

  // At most kMost numbers.
  void add(int64_t number) { numbers_[count_++] = number; }
  void add(double number) { add(std::bit_cast<int64_t>(number)); }
  void add(const Dims& numbers) {
    copy_few(numbers.data(), numbers.size(), numbers_.data() + count_);
    count_ += numbers.size();
  }

  bool operator==(const PlanKey&) const = default;

 private:
  static constexpr size_t kMost = 28;

  size_t count_ = 0;
  std::array<int64_t, kMost> numbers_{};
  std::string_view name_;
};

// Null where there is none.
SOFTNPU_EXPORT std::shared_ptr<const void> find_recent(const PlanKey& key);
// In place of the one that was kept first. What is kept takes memory until then.
SOFTNPU_EXPORT void keep_recent(const PlanKey& key, std::shared_ptr<const void> part);

}  // namespace softnpu
