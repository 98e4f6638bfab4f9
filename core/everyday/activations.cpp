// SPDX-License-Identifier: Apache-2.0
// Activations along a dimension, those of halves, and the rotation of positions.
#include <algorithm>
#include <cmath>

#include "described/formulas.h"
#include "everyday/layers.h"

namespace softnpu::everyday {
namespace {

using Line = std::vector<double>;

// Replaces each line along dim by what f(line, other line) makes of it. `other` is a second
// tensor of the shape ("" if there is none).
template <class F>
Run plan_lines(const Given& given, const char* in, const char* other, const char* out, F f) {
  const Dims& sizes = given.tensor(in).sizes;
  if (*other != 0) require_like(given, other, in);
  require_like(given, out, in);
  const Around at = around(sizes, given.dim("dim", given.tensor(in)));
  return [=](const Arrays& arrays) {
    std::vector<double> values = arrays.read(in);
    const auto others = *other == 0 ? std::vector<double>() : arrays.read(other);
    std::vector<double> line(static_cast<size_t>(at.length)), second(line.size());
    for_each_line(at, [&](int64_t first, int64_t step) {
      const auto element = [=](size_t i) {
        return static_cast<size_t>(first) + i * static_cast<size_t>(step);
      };
      for (size_t i = 0; i < line.size(); ++i) {
        line[i] = values[element(i)];
        if (!others.empty()) second[i] = others[element(i)];
      }
      f(line, second);
      for (size_t i = 0; i < line.size(); ++i) values[element(i)] = line[i];
    });
    arrays.write(out, values);
  };
}

// Subtracts the maximum, and returns the sum of the exponentials.
double shift(Line& line) {
  double top = -HUGE_VAL, sum = 0;
  for (double x : line) top = larger(top, x);
  for (double& x : line) sum += std::exp(x -= top);
  return sum;
}

// Half of a tensor around dim. Its shape is that of out.
Around half_around(const Given& given, const char* in, const char* out) {
  const Tensor& tensor = given.tensor(in);
  require_rank(given, in, 1, 64);
  const size_t dim = given.dim("dim", tensor);
  require(tensor.sizes[dim] % 2 == 0, "dimension-size"_rule, "dimension dim of ", in, " has size ",
          tensor.sizes[dim], "; expected an even size");
  Dims sizes = tensor.sizes;
  sizes[dim] /= 2;
  given.require_shape(out, sizes);
  return around(sizes, dim);
}

// Calls f(element of the first half, element of the second half) for each element.
template <class F>
void for_each_pair_of_halves(const Around& at, const std::vector<double>& values, F&& f) {
  const auto block = static_cast<size_t>(at.length * at.inner);
  for (size_t o = 0; o < static_cast<size_t>(at.outer) && block > 0; ++o)
    for (size_t i = 0; i < block; ++i)
      f(values[2 * o * block + i], values[(2 * o + 1) * block + i]);
}

}  // namespace

Run softmax(const Given& given) {
  return plan_lines(given, "self", "", "out", [](Line& line, const Line&) {
    const double sum = shift(line);
    for (double& x : line) x = std::exp(x) / sum;
  });
}

Run log_softmax(const Given& given) {
  return plan_lines(given, "self", "", "out", [](Line& line, const Line&) {
    const double log = std::log(shift(line));
    for (double& x : line) x -= log;
  });
}

Run softmax_backward(const Given& given) {
  return plan_lines(given, "gradOutput", "output", "gradInput", [](Line& grad, const Line& y) {
    double sum = 0;
    for (size_t i = 0; i < y.size(); ++i) sum += grad[i] * y[i];
    for (size_t i = 0; i < y.size(); ++i) grad[i] = y[i] * (grad[i] - sum);
  });
}

Run log_softmax_backward(const Given& given) {
  return plan_lines(given, "gradOutput", "output", "gradInput", [](Line& grad, const Line& y) {
    double sum = 0;
    for (double x : grad) sum += x;
    for (size_t i = 0; i < y.size(); ++i) grad[i] -= std::exp(y[i]) * sum;
  });
}

namespace {

// The channels of self, for each of which weight has a slope, or one for all.
Around prelu_channels(const Given& given) {
  const Dims& self = given.tensor("self").sizes;
  const Around at = self.size() < 2 ? Around() : around(self, 1);
  const Dims& weight = given.tensor("weight").sizes;
  require(product(weight) == 1 || weight == Dims{at.length}, "shape-differs"_rule,
          "weight has shape ", weight, "; expected [1] or [", at.length, "]");
  return at;
}

}  // namespace

Run prelu(const Given& given) {
  const Around at = prelu_channels(given);
  require_like(given, "out", "self");
  return [at](const Arrays& arrays) {
    std::vector<double> self = arrays.read("self");
    const std::vector<double> weight = arrays.read("weight");
    for (size_t i = 0; i < self.size(); ++i)
      if (!(self[i] > 0)) self[i] *= weight[i / static_cast<size_t>(at.inner) % weight.size()];
    arrays.write("out", self);
  };
}

Run prelu_backward(const Given& given) {
  require_like(given, "gradOutput", "self");
  require_like(given, "gradInput", "self");
  const Around at = prelu_channels(given);
  require_like(given, "gradWeight", "weight");
  return [at](const Arrays& arrays) {
    std::vector<double> grad = arrays.read("gradOutput");
    const std::vector<double> self = arrays.read("self"), weight = arrays.read("weight");
    std::vector<double> sums(weight.size());
    for (size_t i = 0; i < grad.size(); ++i) {
      const size_t channel = i / static_cast<size_t>(at.inner) % weight.size();
      if (self[i] > 0) continue;
      sums[channel] += grad[i] * self[i];
      grad[i] *= weight[channel];
    }
    arrays.write("gradInput", grad);
    arrays.write("gradWeight", sums);
  };
}

Run swi_glu(const Given& given) {
  return [at = half_around(given, "x", "out")](const Arrays& arrays) {
    std::vector<double> out;
    for_each_pair_of_halves(at, arrays.read("x"),
                            [&](double a, double b) { out.push_back(a * sigmoid(a) * b); });
    arrays.write("out", out);
  };
}

Run ge_glu_v3(const Given& given) {
  const Around at = half_around(given, "self", "out");
  require_like(given, "outGelu", "out");
  const int64_t approximate = given.integer("approximate");
  require(approximate == 0 || approximate == 1, "approximate-range"_rule, "approximate is ",
          approximate, "; expected 0 (tanh) or 1 (erf)");
  const bool left = given.integer("activateLeft") != 0;
  return [=](const Arrays& arrays) {
    std::vector<double> out, activated;
    for_each_pair_of_halves(at, arrays.read("self"), [&](double a, double b) {
      const double x = left ? a : b;
      activated.push_back(approximate == 1 ? gelu(x) : gelu_tanh(x));
      out.push_back(activated.back() * (left ? b : a));
    });
    arrays.write("out", out);
    arrays.write("outGelu", activated);
  };
}

namespace {

// Element i of a rotated row of n elements: x[of] * cos + sign * x[with] * sin.
struct Rotated {
  int64_t of, with;
  double sign;
};

Rotated rotated(int64_t mode, int64_t i, int64_t n) {
  const int64_t half = n / 2, quarter = n / 4;
  const auto swapped = [i](int64_t distance) -> Rotated {
    const bool is_first = i / distance % 2 == 0;
    return {i, is_first ? i + distance : i - distance, is_first ? -1.0 : 1.0};
  };
  if (mode == 0) return swapped(half);
  if (mode == 1) return swapped(1);
  if (mode == 2) return swapped(quarter);
  // Of adjacent elements, the first come to the first half, and the second to the second.
  if (i < half) return {2 * i, 2 * i + 1, -1.0};
  return {2 * (i - half) + 1, 2 * (i - half), 1.0};
}

}  // namespace

Run rotary_position_embedding(const Given& given) {
  require_rank(given, "x", 1, 64);
  require_like(given, "out", "x");
  const Dims& sizes = given.tensor("x").sizes;
  for (const char* name : {"cos", "sin"})
    require(broadcast_sizes(given.tensor(name).sizes, sizes) == sizes, "broadcast"_rule, name,
            " has shape ", given.tensor(name).sizes, ", which cannot be broadcast to ", sizes);
  const int64_t mode = given.integer("mode"), n = sizes[sizes.size() - 1];
  require(0 <= mode && mode <= 3, "mode-range"_rule, "mode is ", mode,
          "; expected 0 (half), 1 (interleave), 2 (quarter) or 3 (interleave-half)");
  const int64_t unit = mode == 2 ? 4 : 2;
  require(n % unit == 0, "dimension-size"_rule, "the last dimension of x has size ", n,
          "; expected a multiple of ", unit);
  return [=, sizes = sizes](const Arrays& arrays) {
    const std::vector<double> x = arrays.read("x"), cos = arrays.read("cos", sizes),
                              sin = arrays.read("sin", sizes);
    std::vector<double> out(x.size());
    for (size_t i = 0; i < out.size(); ++i) {
      const auto at = static_cast<int64_t>(i), row = at - at % n;
      const Rotated from = rotated(mode, at % n, n);
      out[i] = x[static_cast<size_t>(row + from.of)] * cos[i] +
               from.sign * x[static_cast<size_t>(row + from.with)] * sin[i];
    }
    arrays.write("out", out);
  };
}

}  // namespace softnpu::everyday
