// SPDX-License-Identifier: Apache-2.0
// Interpolation. Along each spatial dimension, an element of the large tensor is a weighted sum of
// a few elements of the small one. The gradient is the transpose.
#include <algorithm>
#include <array>
#include <cmath>

#include "everyday/layers.h"

namespace softnpu::everyday {
namespace {

enum class Method : uint8_t { nearest, linear, cubic };

// Along one dimension. Element o of the result has the sources and weights from o * taps on.
struct Taps {
  int64_t in = 0, out = 0, taps = 1;
  std::vector<int64_t> sources;
  Values weights;

  void add(int64_t source, double weight) {
    sources.push_back(std::clamp<int64_t>(source, 0, in - 1));
    weights.push_back(weight);
  }
};

// Weights of the four nearest elements, of which the second is `t` before the position.
std::array<double, 4> cubic_weights(double t) {
  constexpr double a = -0.75;
  const auto near = [](double x) { return ((a + 2) * x - (a + 3)) * x * x + 1; };
  const auto far = [](double x) { return ((a * x - 5 * a) * x + 8 * a) * x - 4 * a; };
  return {far(t + 1), near(t), near(1 - t), far(2 - t)};
}

Taps taps(Method method, int64_t in, int64_t out, bool align_corners, double scale) {
  Taps found{in, out, method == Method::nearest ? 1 : method == Method::linear ? 2 : 4, {}, {}};
  constexpr double kFar = 1e9;  // beyond any element
  const auto ratio = [](int64_t a, int64_t b) {
    return static_cast<double>(a) / static_cast<double>(b);
  };
  const double step = align_corners ? (out > 1 ? ratio(in - 1, out - 1) : 0)
                      : scale > 0   ? std::min(1 / scale, kFar)
                                    : ratio(in, out);
  for (int64_t o = 0; o < out; ++o) {
    const auto at = static_cast<double>(o);
    if (method == Method::nearest) {
      found.add(scale > 0 ? static_cast<int64_t>(std::min(at * step, static_cast<double>(in)))
                          : o * in / out,
                1);
      continue;
    }
    double position = align_corners ? at * step : (at + 0.5) * step - 0.5;
    if (method == Method::linear) position = std::max(position, 0.0);
    const double low = std::min(std::floor(position), static_cast<double>(in - 1));
    const double rest = std::clamp(position - low, 0.0, 1.0);
    const auto source = static_cast<int64_t>(low);
    if (method == Method::linear) {
      found.add(source, 1 - rest);
      found.add(source + 1, rest);
    } else {
      const auto weights = cubic_weights(rest);
      for (int64_t k = 0; k < 4; ++k) found.add(source - 1 + k, weights[static_cast<size_t>(k)]);
    }
  }
  return found;
}

// Makes [outer, out, inner] of [outer, in, inner], or the transpose.
Values interpolate(const Taps& t, int64_t outer, int64_t inner, bool transposed,
                   const Values& from) {
  Values to(static_cast<size_t>(outer * (transposed ? t.in : t.out) * inner));
  for (int64_t block = 0; block < outer; ++block)
    for (int64_t o = 0; o < t.out; ++o)
      for (int64_t k = o * t.taps; k < (o + 1) * t.taps; ++k) {
        const double weight = t.weights[static_cast<size_t>(k)];
        const int64_t small = (block * t.in + t.sources[static_cast<size_t>(k)]) * inner;
        const int64_t large = (block * t.out + o) * inner;
        const double* const read = from.data() + (transposed ? large : small);
        double* const sums = to.data() + (transposed ? small : large);
        for (int64_t i = 0; i < inner; ++i) sums[i] += weight * read[i];
      }
  return to;
}

struct Upsampling {
  std::vector<Taps> dimensions;
  int64_t planes;
};

Upsampling upsampling(const Given& given, Method method, const Dims& in,
                      std::initializer_list<const char*> scales, std::string_view large) {
  const size_t count = in.size() - 2;
  const IntArray& size = given.ints("outputSize");
  require(size.size() == count, "array-length"_rule, "outputSize is ", size, "; expected ", count,
          " elements");
  const bool align_corners = method != Method::nearest && given.integer("alignCorners") != 0;
  Dims out = in;
  for (size_t i = 0; i < count; ++i) {
    require(in[i + 2] > 0 && size[i] > 0, "size-positive"_rule, "outputSize is ", size,
            " for the shape ", in, "; expected spatial sizes above 0");
    out[i + 2] = size[i];
  }
  given.require_shape(large, out);
  Upsampling found{{}, in[0] * in[1]};
  for (size_t i = 0; i < count && found.planes > 0; ++i) {
    const double scale = scales.size() == 0 ? 0 : given.number(scales.begin()[i]);
    found.dimensions.push_back(taps(method, in[i + 2], size[i], align_corners, scale));
  }
  return found;
}

// One dimension after the other.
Values interpolate_all(const Upsampling& found, bool transposed, Values values) {
  int64_t outer = found.planes;
  for (const Taps& t : found.dimensions) {
    const int64_t from = transposed ? t.out : t.in;
    const int64_t inner = static_cast<int64_t>(values.size()) / std::max<int64_t>(1, outer * from);
    values = interpolate(t, outer, inner, transposed, values);
    outer *= transposed ? t.in : t.out;
  }
  return values;
}

Run plan_forward(const Given& given, Method method, size_t rank,
                 std::initializer_list<const char*> scales) {
  require_rank(given, "self", rank, rank);
  const Upsampling found = upsampling(given, method, given.tensor("self").sizes, scales, "out");
  return [found](const Arrays& arrays) {
    arrays.write("out", interpolate_all(found, false, arrays.read("self")));
  };
}

Run plan_backward(const Given& given, Method method, size_t rank,
                  std::initializer_list<const char*> scales) {
  require_rank(given, "gradOut", rank, rank);
  require_rank(given, "gradInput", rank, rank);
  given.require_shape("gradInput", given.ints("inputSize"));
  const Upsampling found =
      upsampling(given, method, given.tensor("gradInput").sizes, scales, "gradOut");
  return [found](const Arrays& arrays) {
    arrays.write("gradInput", interpolate_all(found, true, arrays.read("gradOut")));
  };
}

}  // namespace

Run upsample_nearest2d(const Given& given) { return plan_forward(given, Method::nearest, 4, {}); }
Run upsample_linear1d(const Given& given) {
  return plan_forward(given, Method::linear, 3, {"scales"});
}
Run upsample_bilinear2d(const Given& given) {
  return plan_forward(given, Method::linear, 4, {"scalesH", "scalesW"});
}
Run upsample_bicubic2d(const Given& given) {
  return plan_forward(given, Method::cubic, 4, {"scalesH", "scalesW"});
}
Run upsample_nearest1d_backward(const Given& given) {
  return plan_backward(given, Method::nearest, 3, {"scales"});
}
Run upsample_nearest2d_backward(const Given& given) {
  return plan_backward(given, Method::nearest, 4, {"scalesH", "scalesW"});
}
Run upsample_linear1d_backward(const Given& given) {
  return plan_backward(given, Method::linear, 3, {"scales"});
}
Run upsample_bilinear2d_backward(const Given& given) {
  return plan_backward(given, Method::linear, 4, {"scalesH", "scalesW"});
}
Run upsample_bicubic2d_backward(const Given& given) {
  return plan_backward(given, Method::cubic, 4, {"scalesH", "scalesW"});
}

}  // namespace softnpu::everyday
