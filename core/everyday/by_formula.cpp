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

Run is_close(const Given& given) {
  const auto sizes = broadcast_sizes(given.tensor("self").sizes, given.tensor("other").sizes);
  require(sizes.has_value(), "broadcast"_rule, "self has shape ", given.tensor("self").sizes,
          " and other has shape ", given.tensor("other").sizes, ", which cannot be broadcast");
  given.require_shape("out", *sizes);
  const double rtol = given.number("rtol"), atol = given.number("atol");
  const bool equal_nan = given.integer("equalNan") != 0;
  return [=, sizes = *sizes](const Arrays& arrays) {
    const std::vector<double> a = arrays.read("self", sizes), b = arrays.read("other", sizes);
    std::vector<int64_t> close(a.size());
    for (size_t i = 0; i < a.size(); ++i) {
      const double distance = std::fabs(a[i] - b[i]);
      const bool nans = equal_nan && std::isnan(a[i]) && std::isnan(b[i]);
      close[i] = a[i] == b[i] || nans ||
                 (std::isfinite(distance) && distance <= atol + rtol * std::fabs(b[i]));
    }
    arrays.write("out", close);
  };
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
