// SPDX-License-Identifier: Apache-2.0
#include "everyday/norm_rows.h"

#include <cmath>

namespace softnpu::everyday {

Values scales(const Values& variances, double eps) {
  Values found;
  for (double variance : variances) found.push_back(1 / std::sqrt(variance + eps));
  return found;
}

Statistics measure(const NormRows& rows, const Values& x, double eps) {
  Statistics found;
  const auto n = static_cast<double>(rows.length);
  for (int64_t r = 0; r < rows.count; ++r) {
    const double* const row = x.data() + r * rows.length;
    double sum = 0, squares = 0;
    for (int64_t j = 0; j < rows.length; ++j) sum += row[j];
    const double mean = rows.is_centred ? sum / n : 0;
    for (int64_t j = 0; j < rows.length; ++j) squares += (row[j] - mean) * (row[j] - mean);
    found.mean.push_back(mean);
    found.variance.push_back(squares / n);
  }
  found.scale = scales(found.variance, eps);
  return found;
}

void normalise(const NormRows& rows, const Statistics& s, const Values& weight, const Values& bias,
               Values& x) {
  size_t i = 0;
  for (int64_t r = 0; r < rows.count; ++r)
    for (int64_t j = 0; j < rows.length; ++j, ++i) {
      const size_t p = rows.parameter(r, j), row = static_cast<size_t>(r);
      x[i] = (x[i] - s.mean[row]) * s.scale[row];
      if (!weight.empty()) x[i] *= weight[p];
      if (!bias.empty()) x[i] += bias[p];
    }
}

Gradients differentiate(const NormRows& rows, const Statistics& s, const Values& grad,
                        const Values& x, const Values& weight) {
  const auto parameters = static_cast<size_t>(rows.parameters);
  Gradients found{Values(x.size()), Values(parameters), Values(parameters)};
  const auto n = static_cast<double>(rows.length);
  for (int64_t r = 0; r < rows.count; ++r) {
    const auto row = static_cast<size_t>(r), first = static_cast<size_t>(r * rows.length);
    const double mean = rows.is_centred ? s.mean[row] : 0, scale = s.scale[row];
    double sum = 0, product_sum = 0;
    for (int64_t j = 0; j < rows.length; ++j) {
      const size_t i = first + static_cast<size_t>(j), p = rows.parameter(r, j);
      const double normal = (x[i] - mean) * scale;
      found.weight[p] += grad[i] * normal;
      found.bias[p] += grad[i];
      found.input[i] = weight.empty() ? grad[i] : grad[i] * weight[p];
      sum += found.input[i];
      product_sum += found.input[i] * normal;
    }
    if (!rows.is_centred || rows.has_fixed_statistics) sum = 0;
    if (rows.has_fixed_statistics) product_sum = 0;
    for (size_t i = first; i < first + static_cast<size_t>(rows.length); ++i)
      found.input[i] = scale * (found.input[i] - sum / n - (x[i] - mean) * scale * product_sum / n);
  }
  return found;
}

void require_row_values(const Given& given, std::string_view name, const NormRows& rows) {
  if (!given.has(name)) return;
  const Tensor& tensor = given.tensor(name);
  require(tensor.numel() == rows.count, "layer-size"_rule, name, " has shape ", tensor.sizes,
          "; expected ", rows.count, " elements");
}

std::array<bool, 3> check_gradients(const Given& given, const Names& names, const Dims& input,
                                    const Dims& parameters) {
  std::array<bool, 3> wanted{};
  for (size_t i = 0; i < 3; ++i)
    if ((wanted[i] = is_wanted(given, i, names[i])))
      given.require_shape(names[i], i == 0 ? input : parameters);
  return wanted;
}

}  // namespace softnpu::everyday
