// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <variant>

#include "loops/elementwise.h"
#include "loops/sum_plan.h"

namespace softnpu::ops {

// The loss of each element, or a sum of them.
class SmoothL1LossPlan {
 public:
  template <class Plan>
  explicit SmoothL1LossPlan(Plan plan) : plan_(std::move(plan)) {}

  void expect_fresh_output() {
    if (auto* const each = std::get_if<loops::ElementwisePlan>(&plan_)) each->expect_fresh_output();
  }
  uint64_t workspace_size() const { return 0; }
  Status run(std::byte* const* origins, std::byte* workspace) const {
    return std::visit([&](const auto& plan) { return plan.run(origins, workspace); }, plan_);
  }

 private:
  std::variant<loops::ElementwisePlan, loops::SumPlan> plan_;
};

}  // namespace softnpu::ops
