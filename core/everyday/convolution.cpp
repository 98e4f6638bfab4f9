// SPDX-License-Identifier: Apache-2.0
// Convolutions. Three tensors take part: x with the windows, y with an element for each window, and
// w [channels of y, channels of x / groups, kernel]. A convolution computes y from x and w. A
// transposed one computes x from y and w, and gradients compute any of them from the other two.
#include <algorithm>

#include "everyday/layers.h"
#include "loops/threads.h"

namespace softnpu::everyday {
namespace {

struct Links {
  Windows windows;
  int64_t batch = 1, groups = 1;
  int64_t x_channels = 0, y_channels = 0;  // of one group
};

// Calls f(x, w, y, n) for each row of n windows: w is the offset of a weight, x and y those of the
// first elements that it links. Those of y are adjacent, and those of x windows.stride[2] apart.
template <class F>
void for_each_row(const Links& l, int64_t group, int64_t x_channel, int64_t y_channel, F&& f) {
  const Windows& s = l.windows;
  const int64_t cx = group * l.x_channels + x_channel, cy = group * l.y_channels + y_channel;
  int64_t w = (cy * l.x_channels + x_channel) * s.kernel_size(), first[3], last[3];
  for (int64_t a = 0; a < s.kernel[0]; ++a)
    for (int64_t b = 0; b < s.kernel[1]; ++b)
      for (int64_t c = 0; c < s.kernel[2]; ++c, ++w) {
        const int64_t at[3] = {a, b, c};
        for (int d = 0; d < 3; ++d) s.inside(d, at[d], first[d], last[d]);
        for (int64_t n = 0; n < l.batch && first[2] < last[2]; ++n) {
          const int64_t x = (n * l.groups * l.x_channels + cx) * s.in_plane();
          const int64_t y = (n * l.groups * l.y_channels + cy) * s.out_plane();
          for (int64_t i = first[0]; i < last[0]; ++i)
            for (int64_t j = first[1]; j < last[1]; ++j) {
              const int64_t row = s.position(0, i, a) * s.in[1] + s.position(1, j, b);
              f(x + row * s.in[2] + s.position(2, first[2], c), w,
                y + (i * s.out[1] + j) * s.out[2] + first[2], last[2] - first[2]);
            }
        }
      }
}

enum class Side : uint8_t { x, y };

// Calls f as for_each_row does, for all channels. Threads share the channels of one tensor, so that
// no two of them meet one of its elements, or of w.
template <class F>
void share_rows(const Links& l, Side shared, const F& f) {
  const Windows& s = l.windows;
  if (l.batch == 0 || l.x_channels == 0 || l.y_channels == 0) return;
  if (s.in_plane() == 0 || s.out_plane() == 0) return;
  const bool by_y = shared == Side::y;
  const int64_t mine = by_y ? l.y_channels : l.x_channels;
  const int64_t others = by_y ? l.x_channels : l.y_channels;
  const auto body = [&](int64_t begin, int64_t end, int /*worker*/) {
    for (int64_t c = begin; c < end; ++c)
      for (int64_t other = 0; other < others; ++other)
        for_each_row(l, c / mine, by_y ? other : c % mine, by_y ? c % mine : other, f);
  };
  loops::parallel_for(l.groups * mine, 1, loops::usable_threads(), body);
}

void to_y(const Links& l, const double* x, const double* w, double* y) {
  const int64_t step = l.windows.stride[2];
  share_rows(l, Side::y, [&](int64_t from, int64_t by, int64_t to, int64_t n) {
    const double factor = w[by];
    for (int64_t i = 0; i < n; ++i) y[to + i] += factor * x[from + i * step];
  });
}

void to_x(const Links& l, const double* y, const double* w, double* x) {
  const int64_t step = l.windows.stride[2];
  share_rows(l, Side::x, [&](int64_t to, int64_t by, int64_t from, int64_t n) {
    const double factor = w[by];
    for (int64_t i = 0; i < n; ++i) x[to + i * step] += factor * y[from + i];
  });
}

void to_w(const Links& l, const double* x, const double* y, double* w) {
  const int64_t step = l.windows.stride[2];
  share_rows(l, Side::y, [&](int64_t left, int64_t to, int64_t right, int64_t n) {
    double sum = 0;
    for (int64_t i = 0; i < n; ++i) sum += x[left + i * step] * y[right + i];
    w[to] += sum;
  });
}

// Sizes [N,] C, spatial of the result; a batch dimension that `input` lacks is missing there, too.
struct Convolved {
  Links links;
  Dims out;
};

// Sets the sizes of the windows along d, of which one side is given, and returns the other.
int64_t other_side(Windows& s, bool transposed, int d, int64_t given, int64_t extra) {
  (transposed ? s.out[d] : s.in[d]) = given;
  int64_t& other = transposed ? s.in[d] : s.out[d];
  const int64_t padding = s.pad[d] + s.pad_after[d];
  if (transposed)
    other = (given - 1) * s.stride[d] - padding + s.reach(d) + extra;
  else
    other = given + padding < s.reach(d) ? 0 : (given + padding - s.reach(d)) / s.stride[d] + 1;
  return other;
}

Convolved convolved(const Given& given) {
  require_rank(given, "weight", 3, 5);
  const Dims &weight = given.tensor("weight").sizes, &input = given.tensor("input").sizes;
  const size_t count = weight.size() - 2, missing = 3 - count;
  require_rank(given, "input", count + 1, count + 2);
  const bool transposed = given.integer("transposed") != 0;
  const size_t channel = input.size() - count - 1;
  Convolved found;
  Links& l = found.links;
  l.batch = channel == 0 ? 1 : input[0];
  l.groups = given.integer("groups");
  require(l.groups > 0 && weight[0] % l.groups == 0, "groups"_rule, "groups is ", l.groups,
          "; expected a divisor of ", weight[0], ", the first size of weight");
  const int64_t needed = transposed ? weight[0] : weight[1] * l.groups;
  require(input[channel] == needed, "channels"_rule, "input has ", input[channel],
          " channels; expected ", needed, " with weight of shape ", weight, " and ", l.groups,
          " groups");
  l.x_channels = weight[1];
  l.y_channels = weight[0] / l.groups;

  Windows& s = l.windows;
  std::copy(weight.begin() + 2, weight.end(), s.kernel + missing);
  require(!given.ints("stride").empty(), "array-length"_rule, "stride is empty; expected ", count,
          " elements");
  set_windows(given, count, "dilation", s);
  std::vector<int64_t> extra(count), out(input.begin(), input.begin() + channel);
  if (transposed) extra = per_dimension(given, "outputPadding", count);
  out.push_back(transposed ? weight[1] * l.groups : weight[0]);
  for (size_t i = 0; i < count; ++i) {
    const auto d = static_cast<int>(missing + i);
    require(!transposed || (0 <= extra[i] && extra[i] < std::max(s.stride[d], s.dilation[d])),
            "window"_rule, "an element of outputPadding is ", extra[i],
            "; expected 0 or more and less than stride or dilation");
    out.push_back(other_side(s, transposed, d, input[channel + 1 + i], extra[i]));
    require(out.back() > 0, "window-count"_rule, "the result would have size ", out.back(),
            " in spatial dimension ", i, ": the kernel does not fit input of shape ", input);
  }
  found.out = Dims(std::span<const int64_t>(out));
  return found;
}

// Of [N,] C, spatial: the number of elements of a channel in one sample, and of channels.
Around channels_of(const Dims& sizes, size_t count) {
  return around(sizes, sizes.size() - count - 1);
}

}  // namespace

Run convolution(const Given& given) {
  const Convolved found = convolved(given);
  const bool transposed = given.integer("transposed") != 0;
  given.require_shape("out", found.out);
  const Around at = channels_of(found.out, given.tensor("weight").rank() - 2);
  require_shape_if_given(given, "bias", {at.length});
  return [=, l = found.links](const Arrays& arrays) {
    Values out(static_cast<size_t>(at.outer * at.length * at.inner));
    const Values input = arrays.read("input"), weight = arrays.read("weight"),
                 bias = arrays.read("bias");
    for (size_t i = 0; i < out.size() && !bias.empty(); ++i)
      out[i] = bias[i / static_cast<size_t>(at.inner) % bias.size()];
    (transposed ? to_x : to_y)(l, input.data(), weight.data(), out.data());
    arrays.write("out", out);
  };
}

Run convolution_backward(const Given& given) {
  const Convolved found = convolved(given);
  const bool transposed = given.integer("transposed") != 0;
  given.require_shape("gradOutput", found.out);
  const Around at = channels_of(found.out, given.tensor("weight").rank() - 2);
  const bool of_input = is_wanted(given, 0, "gradInput");
  const bool of_weight = is_wanted(given, 1, "gradWeight");
  const bool of_bias = is_wanted(given, 2, "gradBias");
  if (of_input) require_like(given, "gradInput", "input");
  if (of_weight) require_like(given, "gradWeight", "weight");
  if (of_bias) given.require_shape("gradBias", Dims{at.length});
  const auto input_size = static_cast<size_t>(given.tensor("input").numel());
  return [=, l = found.links](const Arrays& arrays) {
    const Values grad = arrays.read("gradOutput"), input = arrays.read("input"),
                 weight = arrays.read("weight");
    if (of_bias) {
      Values sums(static_cast<size_t>(at.length));
      for (size_t i = 0; i < grad.size(); ++i)
        sums[i / static_cast<size_t>(at.inner) % sums.size()] += grad[i];
      arrays.write("gradBias", sums);
    }
    if (of_weight) {
      Values sums(weight.size());
      const Values &x = transposed ? grad : input, &y = transposed ? input : grad;
      to_w(l, x.data(), y.data(), sums.data());
      arrays.write("gradWeight", sums);
    }
    if (of_input) {
      Values sums(input_size);
      (transposed ? to_y : to_x)(l, grad.data(), weight.data(), sums.data());
      arrays.write("gradInput", sums);
    }
  };
}

Run im2col(const Given& given) {
  require_rank(given, "self", 3, 4);
  const Dims& self = given.tensor("self").sizes;
  Windows s;
  const auto kernel = per_dimension(given, "kernelSize", 2);
  std::copy(kernel.begin(), kernel.end(), s.kernel + 1);
  set_windows(given, 2, "dilation", s);
  for (int d = 1; d < 3; ++d) {
    const int64_t size = self[self.size() - 3 + static_cast<size_t>(d)];
    require(other_side(s, false, d, size, 0) > 0, "window-count"_rule,
            "the kernel does not fit self of shape ", self);
  }
  const int64_t channels = self[self.size() - 3], columns = channels * s.kernel_size();
  given.require_shape("out", self.size() == 3 ? Dims{columns, s.out_plane()}
                                              : Dims{self[0], columns, s.out_plane()});
  const int64_t planes = self.size() == 3 ? channels : self[0] * channels;
  return [=](const Arrays& arrays) {
    const Values in = arrays.read("self");
    Values out;
    for (int64_t plane = 0; plane < planes; ++plane)
      for (int64_t b = 0; b < s.kernel[1]; ++b)
        for (int64_t c = 0; c < s.kernel[2]; ++c)
          for (int64_t i = 0; i < s.out[1]; ++i)
            for (int64_t j = 0; j < s.out[2]; ++j) {
              const int64_t h = s.position(1, i, b), w = s.position(2, j, c);
              const bool is_inside = 0 <= h && h < s.in[1] && 0 <= w && w < s.in[2];
              const auto at = static_cast<size_t>((plane * s.in[1] + h) * s.in[2] + w);
              out.push_back(is_inside ? in[at] : 0);
            }
    arrays.write("out", out);
  };
}

}  // namespace softnpu::everyday
