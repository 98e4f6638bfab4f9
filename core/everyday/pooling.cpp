// SPDX-License-Identifier: Apache-2.0
// Pooling of planes by windows, as PyTorch.
#include <algorithm>
#include <cmath>
#include <utility>

#include "everyday/layers.h"

namespace softnpu::everyday {
namespace {

// The windows of a plane, and the shape of the result.
struct Pooling {
  Windows windows;
  int64_t planes = 1;
  Dims out;
};

// [N,] C, H, W with other sizes of a plane.
Dims with_plane(const Dims& sizes, int64_t height, int64_t width) {
  Dims changed = sizes;
  changed[sizes.size() - 2] = height;
  changed[sizes.size() - 1] = width;
  return changed;
}

Pooling pooling(const Given& given, std::string_view dilation) {
  require_rank(given, "self", 3, 4);
  const Dims& self = given.tensor("self").sizes;
  const bool ceils = given.integer("ceilMode") != 0;
  Pooling found;
  Windows& s = found.windows;
  const auto kernel = per_dimension(given, "kernelSize", 2);
  std::copy(kernel.begin(), kernel.end(), s.kernel + 1);
  set_windows(given, 2, dilation, s);
  for (int d = 1; d < 3; ++d) {
    const int64_t size = s.in[d] = self[self.size() - 3 + static_cast<size_t>(d)];
    const int64_t widest = std::max(s.pad[d], s.pad_after[d]);
    require(2 * widest <= s.reach(d), "window"_rule, "padding is ", widest,
            "; expected at most half of the kernel's extent ", s.reach(d));
    const int64_t room = size + s.pad[d] + s.pad_after[d] - s.reach(d);
    s.out[d] = (room + (ceils ? s.stride[d] - 1 : 0)) / s.stride[d] + 1;
    // The last window must begin in the input or in the padding before it.
    if (ceils && (s.out[d] - 1) * s.stride[d] >= size + s.pad[d]) --s.out[d];
    require(size > 0 && room >= (ceils ? 1 - s.stride[d] : 0), "window-count"_rule,
            "the kernel does not fit self of shape ", self);
  }
  found.planes = product(std::span<const int64_t>(self).first(self.size() - 2));
  found.out = with_plane(self, s.out[1], s.out[2]);
  return found;
}

// The elements [first, second) of window o that lie in the input.
std::pair<int64_t, int64_t> covered(const Windows& s, int d, int64_t o) {
  const int64_t start = s.position(d, o, 0), step = s.dilation[d];
  const auto steps_to = [&](int64_t end) { return end <= 0 ? 0 : (end + step - 1) / step; };
  return {steps_to(-start), std::min(s.kernel[d], steps_to(s.in[d] - start))};
}

// Calls f(element of the large tensor, element of the small one) for each element of each window.
template <class F>
void for_each_pair(const Pooling& p, F&& f) {
  const Windows& s = p.windows;
  size_t small = 0;
  for (int64_t plane = 0; plane < p.planes; ++plane)
    for (int64_t i = 0; i < s.out[1]; ++i)
      for (int64_t j = 0; j < s.out[2]; ++j, ++small) {
        const auto rows = covered(s, 1, i), columns = covered(s, 2, j);
        for (int64_t b = rows.first; b < rows.second; ++b)
          for (int64_t c = columns.first; c < columns.second; ++c) {
            const int64_t h = s.position(1, i, b), w = s.position(2, j, c);
            f(static_cast<size_t>((plane * s.in[1] + h) * s.in[2] + w), small);
          }
      }
}

// How many elements window o has along d, those of the padding counted or not.
int64_t extent(const Windows& s, int d, int64_t o, bool with_padding) {
  const int64_t start = s.position(d, o, 0);
  return std::min(start + s.kernel[d], s.in[d] + (with_padding ? s.pad_after[d] : 0)) -
         std::max(start, with_padding ? -s.pad[d] : 0);
}

// What each window is divided by, in the order of one plane's windows.
std::vector<double> divisors(const Given& given, const Pooling& p) {
  const Windows& s = p.windows;
  const bool with_padding = given.integer("countIncludePad") != 0;
  const int64_t fixed = given.integer("divisorOverride");
  std::vector<double> found;
  for (int64_t i = 0; i < s.out[1] && p.planes > 0; ++i)
    for (int64_t j = 0; j < s.out[2]; ++j) {
      const int64_t count = extent(s, 1, i, with_padding) * extent(s, 2, j, with_padding);
      found.push_back(static_cast<double>(fixed != 0 ? fixed : count));
    }
  return found;
}

struct Maxima {
  std::vector<double> values;
  std::vector<int64_t> positions;  // in the plane
};

// The first of equal elements is taken, and NaN is larger than any number.
Maxima maxima(const Pooling& p, const std::vector<double>& in) {
  const auto count = static_cast<size_t>(product(p.out));
  Maxima found{std::vector<double>(count, -HUGE_VAL), std::vector<int64_t>(count, -1)};
  for_each_pair(p, [&](size_t large, size_t small) {
    double& best = found.values[small];
    int64_t& where = found.positions[small];
    if (where >= 0 && !(in[large] > best) && !(std::isnan(in[large]) && !std::isnan(best))) return;
    best = in[large];
    where = static_cast<int64_t>(large) % p.windows.in_plane();
  });
  return found;
}

// Adds part(element, window) to the gradient of each element, for each window that has it.
template <class Part>
void write_gradient(const Pooling& p, const Arrays& arrays, Part part) {
  std::vector<double> sums(static_cast<size_t>(p.planes * p.windows.in_plane()));
  for_each_pair(p, [&](size_t large, size_t small) { sums[large] += part(large, small); });
  arrays.write("gradInput", sums);
}

}  // namespace

Run avg_pool2d(const Given& given) {
  const Pooling p = pooling(given, "");
  given.require_shape("out", p.out);
  return [p, divisor = divisors(given, p)](const Arrays& arrays) {
    const std::vector<double> in = arrays.read("self");
    std::vector<double> out(static_cast<size_t>(product(p.out)));
    for_each_pair(p, [&](size_t large, size_t small) { out[small] += in[large]; });
    for (size_t i = 0; i < out.size(); ++i) out[i] /= divisor[i % divisor.size()];
    arrays.write("out", out);
  };
}

Run avg_pool2d_backward(const Given& given) {
  const Pooling p = pooling(given, "");
  given.require_shape("gradOutput", p.out);
  require_like(given, "gradInput", "self");
  return [p, divisor = divisors(given, p)](const Arrays& arrays) {
    const std::vector<double> grad = arrays.read("gradOutput");
    write_gradient(p, arrays, [&](size_t, size_t small) {
      return grad[small] / divisor[small % divisor.size()];
    });
  };
}

namespace {

// Windows that cover a plane: window i of n begins at element begin(i) and ends before end(i).
struct Cover {
  int64_t planes, height, width, rows, columns;

  static int64_t begin(int64_t i, int64_t n, int64_t length) { return i * length / n; }
  static int64_t end(int64_t i, int64_t n, int64_t length) {
    return ((i + 1) * length + n - 1) / n;
  }
  // Calls f(element of the plane, window, size of the window) for each element of each window.
  template <class F>
  void for_each(F&& f) const {
    size_t window = 0;
    for (int64_t plane = 0; plane < planes; ++plane)
      for (int64_t i = 0; i < rows && columns > 0; ++i)
        for (int64_t j = 0; j < columns; ++j, ++window) {
          const int64_t top = begin(i, rows, height), bottom = end(i, rows, height);
          const int64_t left = begin(j, columns, width), right = end(j, columns, width);
          const auto size = static_cast<double>((bottom - top) * (right - left));
          for (int64_t h = top; h < bottom; ++h)
            for (int64_t w = left; w < right; ++w)
              f(static_cast<size_t>((plane * height + h) * width + w), window, size);
        }
  }
};

Cover cover(const Given& given, int64_t rows, int64_t columns, std::string_view small) {
  require_rank(given, "self", 3, 4);
  const Dims& self = given.tensor("self").sizes;
  const int64_t height = self[self.size() - 2], width = self[self.size() - 1];
  require(rows >= 0 && columns >= 0 && height > 0 && width > 0, "window-count"_rule,
          "the result has planes of ", rows, " x ", columns, " and self has shape ", self,
          "; expected no negative size and no empty plane");
  given.require_shape(small, with_plane(self, rows, columns));
  return {product(std::span<const int64_t>(self).first(self.size() - 2)), height, width, rows,
          columns};
}

}  // namespace

Run adaptive_avg_pool2d(const Given& given) {
  const auto size = per_dimension(given, "outputSize", 2);
  return [at = cover(given, size[0], size[1], "out")](const Arrays& arrays) {
    const std::vector<double> in = arrays.read("self");
    std::vector<double> out(static_cast<size_t>(arrays.view("out").tensor->numel()));
    at.for_each([&](size_t large, size_t small, double) { out[small] += in[large]; });
    size_t last = out.size();
    at.for_each([&](size_t, size_t small, double count) {
      if (small != last) out[small] /= count;
      last = small;
    });
    arrays.write("out", out);
  };
}

Run adaptive_avg_pool2d_backward(const Given& given) {
  require_rank(given, "gradOutput", 3, 4);
  require_like(given, "gradInput", "self");
  const Dims& grad = given.tensor("gradOutput").sizes;
  const Cover at = cover(given, grad[grad.size() - 2], grad[grad.size() - 1], "gradOutput");
  return [at](const Arrays& arrays) {
    const std::vector<double> in = arrays.read("gradOutput");
    std::vector<double> sums(static_cast<size_t>(arrays.view("gradInput").tensor->numel()));
    at.for_each(
        [&](size_t large, size_t small, double count) { sums[large] += in[small] / count; });
    arrays.write("gradInput", sums);
  };
}

Run max_pool(const Given& given) {
  require(given.integer("autoPad") == 0, "mode-range"_rule, "autoPad is ", given.integer("autoPad"),
          "; expected 0");
  const Pooling p = pooling(given, "dilation");
  given.require_shape("out", p.out);
  return [p](const Arrays& arrays) { arrays.write("out", maxima(p, arrays.read("self")).values); };
}

Run max_pool2d_with_indices(const Given& given) {
  const Pooling p = pooling(given, "dilation");
  given.require_shape("out", p.out);
  given.require_shape("indices", p.out);
  return [p](const Arrays& arrays) {
    const Maxima found = maxima(p, arrays.read("self"));
    arrays.write("out", found.values);
    arrays.write("indices", found.positions);
  };
}

Run max_pool2d_with_indices_backward(const Given& given) {
  const Pooling p = pooling(given, "dilation");
  given.require_shape("gradOutput", p.out);
  given.require_shape("indices", p.out);
  require_like(given, "gradInput", "self");
  return [p](const Arrays& arrays) {
    const std::vector<double> grad = arrays.read("gradOutput");
    const std::vector<int64_t> indices = arrays.read<int64_t>("indices");
    const int64_t large = p.windows.in_plane();
    const auto small = static_cast<size_t>(p.windows.out_plane());
    std::vector<double> sums(static_cast<size_t>(p.planes * large));
    for (size_t i = 0; i < grad.size(); ++i) {
      if (indices[i] < 0 || indices[i] >= large)
        throw Failure{fail("index-out-of-range"_rule, kRuntimeError, "indices has ", indices[i],
                           "; expected 0 or more and less than ", large)};
      sums[i / small * static_cast<size_t>(large) + static_cast<size_t>(indices[i])] += grad[i];
    }
    arrays.write("gradInput", sums);
  };
}

namespace {

// A mask has a row for each element of the kernel; bit o % 8 of byte o / 8 of it says whether
// window o has its maximum there.
struct Mask {
  int64_t rows, row;

  size_t byte(int64_t plane, int64_t k, int64_t o) const {
    return static_cast<size_t>((plane * rows + k) * row + o / 8);
  }
};

Mask mask_of(const Given& given, const Pooling& p) {
  const Dims& sizes = given.tensor("mask").sizes;
  const Dims& self = given.tensor("self").sizes;
  const int64_t rows = p.windows.kernel_size(), bytes = (p.windows.out_plane() + 7) / 8;
  require(sizes.size() == self.size() && sizes[sizes.size() - 2] == rows && sizes.back() >= bytes &&
              with_plane(sizes, 1, 1) == with_plane(self, 1, 1),
          "shape-differs"_rule, "mask has shape ", sizes, "; expected ",
          with_plane(self, rows, bytes), " or longer rows");
  return {rows, sizes.back()};
}

// The element of the kernel that lies at a position of the plane.
int64_t kernel_element(const Windows& s, int64_t o, int64_t position) {
  const int64_t h = position / s.in[2] - s.position(1, o / s.out[2], 0);
  const int64_t w = position % s.in[2] - s.position(2, o % s.out[2], 0);
  return h / s.dilation[1] * s.kernel[2] + w / s.dilation[2];
}

}  // namespace

Run max_pool2d_with_mask(const Given& given) {
  const Pooling p = pooling(given, "dilation");
  given.require_shape("out", p.out);
  return [p, mask = mask_of(given, p)](const Arrays& arrays) {
    const Maxima found = maxima(p, arrays.read("self"));
    std::vector<int64_t> bytes(static_cast<size_t>(arrays.view("mask").tensor->numel()));
    for (size_t i = 0; i < found.positions.size(); ++i) {
      const int64_t o = static_cast<int64_t>(i) % p.windows.out_plane();
      const int64_t plane = static_cast<int64_t>(i) / p.windows.out_plane();
      if (found.positions[i] < 0) continue;
      bytes[mask.byte(plane, kernel_element(p.windows, o, found.positions[i]), o)] |= 1 << o % 8;
    }
    // As INT8 has them.
    for (int64_t& byte : bytes) byte = static_cast<int8_t>(byte);
    arrays.write("out", found.values);
    arrays.write("mask", bytes);
  };
}

Run max_pool2d_with_mask_backward(const Given& given) {
  const Pooling p = pooling(given, "dilation");
  given.require_shape("gradOutput", p.out);
  require_like(given, "gradInput", "self");
  return [p, mask = mask_of(given, p)](const Arrays& arrays) {
    const std::vector<double> grad = arrays.read("gradOutput");
    const std::vector<int64_t> bytes = arrays.read<int64_t>("mask");
    const Windows& s = p.windows;
    write_gradient(p, arrays, [&](size_t large, size_t small) {
      const int64_t o = static_cast<int64_t>(small) % s.out_plane();
      const int64_t k = kernel_element(s, o, static_cast<int64_t>(large) % s.in_plane());
      const size_t byte = mask.byte(static_cast<int64_t>(small) / s.out_plane(), k, o);
      return (bytes[byte] >> o % 8 & 1) != 0 ? grad[small] : 0;
    });
  };
}

}  // namespace softnpu::everyday
