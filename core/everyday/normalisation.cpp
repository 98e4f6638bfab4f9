// SPDX-License-Identifier: Apache-2.0
// Normalisation of trailing dimensions and of groups of channels.
#include <algorithm>

#include "everyday/norm_rows.h"

namespace softnpu::everyday {
namespace {

// NormRows of the trailing dimensions, whose sizes are `last`.
NormRows trailing_rows(const Given& given, std::string_view name, const Dims& last) {
  const Dims& sizes = given.tensor(name).sizes;
  const std::span<const int64_t> all(sizes);
  require(!last.empty() && last.size() <= all.size() && Dims(all.last(last.size())) == last,
          "trailing-sizes"_rule, name, " has shape ", sizes, ", which does not end in ", last);
  const int64_t length = product(last);
  return {.count = product(all.first(all.size() - last.size())),
          .length = length,
          .parameters = length};
}

NormRows group_rows(const Given& given) {
  const int64_t n = given.integer("N"), channels = given.integer("C"), plane = given.integer("HxW");
  const int64_t groups = given.integer("group");
  const Dims& sizes = given.tensor("self").sizes;
  require(groups > 0 && channels >= 0 && channels % groups == 0, "groups"_rule, "group is ", groups,
          "; expected a divisor of C, ", channels);
  const auto samples = checked_mul(n, channels);
  const auto elements = samples ? checked_mul(*samples, plane) : samples;
  require(n >= 0 && plane >= 0 && elements == product(sizes), "layer-size"_rule,
          "N, C and HxW are ", n, ", ", channels, " and ", plane, ", but self has shape ", sizes);
  require_shape_if_given(given, "gamma", {channels});
  return {.count = n * groups,
          .length = channels / groups * plane,
          .parameters = channels,
          .groups = groups,
          .inner = std::max<int64_t>(1, plane)};
}

Run plan_norm(const Given& given, const NormRows& rows, Names inputs, Names outputs) {
  require_like(given, outputs[0], inputs[0]);
  require_row_values(given, outputs[1], rows);
  require_row_values(given, outputs[2], rows);
  return [=, eps = given.number("eps")](const Arrays& arrays) {
    Values x = arrays.read(inputs[0]);
    const Statistics s = measure(rows, x, eps);
    normalise(rows, s, arrays.read(inputs[1]), arrays.read(inputs[2]), x);
    arrays.write(outputs[0], x);
    arrays.write(outputs[1], s.mean);
    arrays.write(outputs[2], s.scale);
  };
}

Run plan_norm_gradients(const Given& given, const NormRows& rows, Names inputs, Names outputs,
                        const Dims& parameters) {
  require_like(given, "gradOut", inputs[0]);
  require_row_values(given, "mean", rows);
  require_row_values(given, "rstd", rows);
  const auto wanted = check_gradients(given, outputs, given.tensor(inputs[0]).sizes, parameters);
  return [=](const Arrays& arrays) {
    const Statistics s{arrays.read("mean"), {}, arrays.read("rstd")};
    const Gradients found = differentiate(rows, s, arrays.read("gradOut"), arrays.read(inputs[0]),
                                          arrays.read(inputs[1]));
    if (wanted[0]) arrays.write(outputs[0], found.input);
    if (wanted[1]) arrays.write(outputs[1], found.weight);
    if (wanted[2]) arrays.write(outputs[2], found.bias);
  };
}

}  // namespace

Run layer_norm(const Given& given) {
  const Dims& last = given.ints("normalizedShape");
  for (const char* name : {"weight", "bias"}) require_shape_if_given(given, name, last);
  return plan_norm(given, trailing_rows(given, "input", last), {"input", "weight", "bias"},
                   {"out", "meanOut", "rstdOut"});
}

Run layer_norm_backward(const Given& given) {
  const Dims& last = given.ints("normalizedShape");
  require_shape_if_given(given, "weight", last);
  return plan_norm_gradients(given, trailing_rows(given, "input", last),
                             {"input", "weight", "bias"}, {"gradInput", "gradWeight", "gradBias"},
                             last);
}

Run group_norm(const Given& given) {
  require_shape_if_given(given, "beta", {given.integer("C")});
  return plan_norm(given, group_rows(given), {"self", "gamma", "beta"},
                   {"out", "meanOut", "rstdOut"});
}

Run group_norm_backward(const Given& given) {
  return plan_norm_gradients(given, group_rows(given), {"self", "gamma", ""},
                             {"gradInput", "gradGamma", "gradBeta"}, {given.integer("C")});
}

namespace {

NormRows rms_rows(const Given& given, std::string_view name) {
  NormRows rows = trailing_rows(given, name, given.tensor("gamma").sizes);
  rows.is_centred = false;
  require_row_values(given, "rstd", rows);
  return rows;
}

Run plan_rms_norm(const Given& given, const char* first, const char* second) {
  const NormRows rows = rms_rows(given, first);
  require_like(given, "y", first);
  return [=, eps = given.number("eps")](const Arrays& arrays) {
    Values x = arrays.read(first);
    if (*second != 0) {
      const Values other = arrays.read(second);
      for (size_t i = 0; i < x.size(); ++i) x[i] += other[i];
    }
    Values sum = *second == 0 ? Values() : x;
    const Values gamma = arrays.read("gamma");
    const Statistics s = measure(rows, x, eps);
    normalise(rows, s, gamma, {}, x);
    arrays.write("y", x);
    arrays.write("rstd", s.scale);
    if (*second != 0) arrays.write("x", sum);
  };
}

}  // namespace

Run rms_norm(const Given& given) { return plan_rms_norm(given, "x", ""); }

Run add_rms_norm(const Given& given) {
  require_like(given, "x2", "x1");
  require_like(given, "x", "x1");
  return plan_rms_norm(given, "x1", "x2");
}

Run rms_norm_grad(const Given& given) {
  const NormRows rows = rms_rows(given, "x");
  require_like(given, "dy", "x");
  require_like(given, "dx", "x");
  require_like(given, "dgamma", "gamma");
  return [rows](const Arrays& arrays) {
    const Statistics s{{}, {}, arrays.read("rstd")};
    const Gradients found =
        differentiate(rows, s, arrays.read("dy"), arrays.read("x"), arrays.read("gamma"));
    arrays.write("dx", found.input);
    arrays.write("dgamma", found.weight);
  };
}

}  // namespace softnpu::everyday
