// SPDX-License-Identifier: Apache-2.0
// Losses, and the steps of optimisers.
#include <cmath>

#include "described/formulas.h"
#include "everyday/layers.h"

namespace softnpu::everyday {

// loss = -sum of labels · log(softmax(logits)); backprop = softmax(logits) - labels.
Run softmax_cross_entropy_with_logits(const Given& given) {
  require_rank(given, "logits", 2, 2);
  require_like(given, "labels", "logits");
  require_like(given, "backprop", "logits");
  const Dims& sizes = given.tensor("logits").sizes;
  given.require_shape("loss", Dims{sizes[0]});
  return [rows = sizes[0], classes = sizes[1]](const Arrays& arrays) {
    std::vector<double> x = arrays.read("logits"), losses(static_cast<size_t>(rows));
    const std::vector<double> labels = arrays.read("labels");
    for (int64_t row = 0; row < rows; ++row) {
      double* const logits = x.data() + row * classes;
      const double* const label = labels.data() + row * classes;
      double top = -HUGE_VAL, sum = 0, loss = 0;
      for (int64_t c = 0; c < classes; ++c) top = larger(top, logits[c]);
      for (int64_t c = 0; c < classes; ++c) sum += std::exp(logits[c] - top);
      for (int64_t c = 0; c < classes; ++c) {
        const double log = logits[c] - top - std::log(sum);
        if (label[c] != 0) loss -= label[c] * log;  // not 0 · -inf
        logits[c] = std::exp(log) - label[c];
      }
      losses[static_cast<size_t>(row)] = loss;
    }
    arrays.write("loss", losses);
    arrays.write("backprop", x);
  };
}

// The step counts from 0, so that the powers of beta1 and beta2 are step + 1.
Run apply_adam_wv2(const Given& given) {
  for (const char* name : {"m", "v", "grad"}) require_like(given, name, "var");
  require(given.tensor("step").numel() == 1, "shape-differs"_rule, "step has shape ",
          given.tensor("step").sizes, "; expected one element");
  const bool amsgrad = given.integer("amsgrad") != 0;
  if (amsgrad && !given.has("maxV"))
    throw Failure{fail("argument-null"_rule, kParamNullptr, "maxV is null")};
  require_shape_if_given(given, "maxV", given.tensor("var").sizes);
  const double sign = given.integer("maximize") != 0 ? -1 : 1;
  const double lr = given.number("lr"), eps = given.number("eps");
  const double beta1 = given.number("beta1"), beta2 = given.number("beta2");
  const double decay = 1 - lr * given.number("weightDecay");
  return [=](const Arrays& arrays) {
    std::vector<double> var = arrays.read("var"), m = arrays.read("m"), v = arrays.read("v"),
                        top = amsgrad ? arrays.read("maxV") : v;
    const std::vector<double> grad = arrays.read("grad");
    const double step = arrays.read("step")[0] + 1;
    const double bias1 = 1 - std::pow(beta1, step), bias2 = 1 - std::pow(beta2, step);
    for (size_t i = 0; i < var.size(); ++i) {
      const double g = sign * grad[i];
      m[i] = beta1 * m[i] + (1 - beta1) * g;
      v[i] = beta2 * v[i] + (1 - beta2) * g * g;
      top[i] = amsgrad ? larger(top[i], v[i]) : v[i];
      var[i] = var[i] * decay - lr * (m[i] / bias1) / (std::sqrt(top[i] / bias2) + eps);
    }
    arrays.write("var", var);
    arrays.write("m", m);
    arrays.write("v", v);
    if (amsgrad) arrays.write("maxV", top);
  };
}

}  // namespace softnpu::everyday
