// SPDX-License-Identifier: Apache-2.0
// Formulas that depend on arguments other than elements and numbers.
#include "described/elementwise.h"
#include "described/formulas.h"
#include "everyday/plans.h"

namespace softnpu::everyday {

Run bitwise_not(const Given& given) {
  if (given.tensor("self").dtype == DType::boolean)
    return plan_elementwise(given, whole<1, 0>([](auto self) { return self == 0; }));
  return plan_elementwise(given, whole<1, 0>([](auto self) { return ~self; }));
}

Run gelu_v2(const Given& given) {
  const int64_t approximate = given.integer("approximate");
  require(approximate == 0 || approximate == 1, "approximate-range"_rule, "approximate is ",
          approximate, "; expected 0 (erf) or 1 (tanh)");
  if (approximate == 1)
    return plan_elementwise(given, real<1, 0>([](auto x) { return gelu_tanh(x); }));
  return plan_elementwise(given, real<1, 0>([](auto x) { return gelu(x); }));
}

}  // namespace softnpu::everyday
