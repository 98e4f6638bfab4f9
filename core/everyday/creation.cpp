// SPDX-License-Identifier: Apache-2.0
// Tensors from numbers. A random tensor is a function of its seed and offset alone.
#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>

#include "base/random.h"
#include "described/formulas.h"
#include "everyday/views.h"

namespace softnpu::everyday {
namespace {

// out[i] = value(i), in row-major order
template <class Value>
Run fill(const Given& given, Value value) {
  return [value, name = output(given)](const Arrays& arrays) {
    std::vector<decltype(value(int64_t()))> values;
    for (int64_t i = 0, n = arrays.view(name).tensor->numel(); i < n; ++i)
      values.push_back(value(i));
    arrays.write(name, values);
  };
}

// start, start + step, ... Its length is that of the output.
Run progression(const Given& given, bool with_end) {
  const double start = given.real("start"), end = given.real("end"), step = given.real("step");
  bool whole = true;
  for (const char* name : {"start", "end", "step"})
    whole = whole && !is_floating(given.scalar(name).dtype);
  const Tensor& out = given.tensor("out");
  const auto ones = std::ranges::count(out.sizes, 1);
  require(out.rank() > 0 && ones + 1 >= static_cast<int64_t>(out.rank()), "rank-differs"_rule,
          "out has shape ", out.sizes, "; expected rank 1, or other dimensions of size 1");
  require_range(step != 0 && std::isfinite(step), "step", step, "a finite number but 0");
  const auto first = number_from<int64_t>(given.scalar("start"));
  const auto each = number_from<int64_t>(given.scalar("step"));
  // Callers round a length from floating numbers in their own way.
  double length = (end - start) / step;
  length = with_end ? std::floor(length) + 1 : std::ceil(length);
  if (whole) {
    const int64_t back = plus(first, times(-1, number_from<int64_t>(given.scalar("end"))));
    length = static_cast<double>(with_end ? floor_quotient(times(-1, back), each) + 1
                                          : times(-1, floor_quotient(back, each)));
  }
  length = std::fmax(length, 0);
  require(std::fabs(static_cast<double>(out.numel()) - length) <= (whole ? 0 : 1),
          "shape-differs"_rule, "out has ", out.numel(), " elements; expected ", length);
  if (!whole) return fill(given, [=](int64_t i) { return start + static_cast<double>(i) * step; });
  return fill(given, [=](int64_t i) { return plus(first, times(i, each)); });
}

// Random numbers for one call.
Random stream_of(const Given& given) {
  const uint64_t first = Random(static_cast<uint64_t>(given.integer("seed"))).next();
  return Random(Random(first + static_cast<uint64_t>(given.integer("offset"))).next());
}

// self[i] = draw(random, i)
template <class Draw>
Run draw_each(const Given& given, Draw draw) {
  return [random = stream_of(given), draw, name = output(given)](const Arrays& arrays) {
    Random numbers = random;  // a plan may run several times
    const View view = arrays.view(name);
    std::vector<decltype(draw(numbers, view))> values;
    for (int64_t i = 0, n = view.tensor->numel(); i < n; ++i) values.push_back(draw(numbers, view));
    arrays.write(name, values);
  };
}

// What becomes of a number in a tensor.
double rounded_to(DType type, double value) {
  std::byte bytes[8];
  storer<double>(type)(&value, 1, 1, bytes);
  loader<double>(type)(bytes, 1, 1, &value);
  return value;
}

double checked_probability(const char* name, double value) {
  require_range(0 <= value && value <= 1, name, value, "0 to 1");
  return value;
}

constexpr int64_t kMaskBits = 128;  // masks are multiples of so many bits

void require_mask_length(const Given& given, int64_t elements) {
  const Tensor& mask = given.tensor("mask");
  const int64_t bytes = (elements / kMaskBits + (elements % kMaskBits != 0)) * (kMaskBits / 8);
  require(mask.dtype == DType::u8, "dtype-unsupported"_rule, "mask has data type ", mask.dtype,
          "; expected UINT8");
  require(mask.numel() >= bytes, "element-count"_rule, "mask has shape ", mask.sizes, "; expected ",
          bytes, " bytes, one bit for each element, in multiples of 16 bytes");
}

}  // namespace

Run arange(const Given& given) { return progression(given, false); }
Run range(const Given& given) { return progression(given, true); }

// Both halves are counted from their end, so that both ends are exact.
Run linspace(const Given& given) {
  const double start = given.real("start"), end = given.real("end");
  const int64_t steps = given.integer("steps");
  given.require_shape("out", Dims{steps});
  const double step = steps > 1 ? (end - start) / static_cast<double>(steps - 1) : 0;
  return fill(given, [=](int64_t i) {
    return i < (steps + 1) / 2 ? start + step * static_cast<double>(i)
                               : end - step * static_cast<double>(steps - 1 - i);
  });
}

Run eye(const Given& given) {
  const int64_t columns = given.integer("m");
  given.require_shape("out", Dims{given.integer("n"), columns});
  return fill(given, [=](int64_t i) { return int64_t{i / columns == i % columns}; });
}

// A number that the data type rounds up to `high` becomes `low`.
Run inplace_uniform(const Given& given) {
  const double low = given.number("low"), high = given.number("high");
  require_range(low <= high && std::isfinite(high - low), "low", low,
                "a finite number that is not above high");
  return draw_each(given, [=](Random& random, const View& view) {
    const double value = low + (high - low) * random.fraction();
    return rounded_to(view.tensor->dtype, value) < high ? value : low;
  });
}

// By the method of Box and Muller.
Run inplace_normal(const Given& given) {
  const double mean = given.number("mean"), std = given.number("std");
  require_range(std >= 0, "std", std, "0 or more");
  return draw_each(given, [=](Random& random, const View&) {
    const double radius = std::sqrt(-2 * std::log(1 - random.fraction()));
    return mean + std * radius * std::cos(2 * std::numbers::pi * random.fraction());
  });
}

Run inplace_random(const Given& given) {
  const int64_t low = given.integer("low"), high = given.integer("high");
  require(low < high, "number-range"_rule, "low is ", low, "; expected less than high, ", high);
  const uint64_t count = static_cast<uint64_t>(high) - static_cast<uint64_t>(low);
  return draw_each(given, [=](Random& random, const View&) {
    return plus(low, static_cast<int64_t>(random.below(count)));
  });
}

// Shuffled from the end: each element changes places with one before it, or itself.
Run randperm(const Given& given) {
  given.require_shape("out", Dims{given.integer("n")});
  return [random = stream_of(given), n = given.integer("n")](const Arrays& arrays) {
    Random numbers = random;
    std::vector<int64_t> values(static_cast<size_t>(n));
    std::iota(values.begin(), values.end(), 0);
    for (size_t i = values.size(); i > 1; --i)
      std::swap(values[i - 1], values[static_cast<size_t>(numbers.below(i))]);
    arrays.write("out", values);
  };
}

Run inplace_bernoulli(const Given& given) {
  const double prob = checked_probability("prob", given.real("prob"));
  return draw_each(given,
                   [=](Random& random, const View&) { return int64_t{random.fraction() < prob}; });
}

Run inplace_bernoulli_tensor(const Given& given) {
  const Tensor &self = given.tensor("self"), &prob = given.tensor("prob");
  require(broadcast_sizes(prob.sizes, self.sizes) == self.sizes, "broadcast"_rule,
          "prob has shape ", prob.sizes, ", which cannot be broadcast to ", self.sizes);
  return [random = stream_of(given), sizes = self.sizes](const Arrays& arrays) {
    Random numbers = random;
    Sizes values;
    for (double each : arrays.read<double>("prob", sizes))
      values.push_back(numbers.fraction() < each);
    arrays.write("self", values);
  };
}

// Bit i % 8 of byte i / 8 belongs to element i.
Run dropout_gen_mask(const Given& given) {
  const double prob = checked_probability("prob", given.number("prob"));
  const auto count = checked_numel(given.ints("shape"));
  for (int64_t size : given.ints("shape"))
    require(size >= 0 && count.has_value(), "sizes-sum"_rule, "shape is ", given.ints("shape"),
            "; expected sizes of 0 or more whose product fits 64 bits");
  require_mask_length(given, count.value_or(0));
  return draw_each(given, [=](Random& random, const View&) {
    int64_t byte = 0;
    for (int bit = 0; bit < 8; ++bit) byte |= int64_t{random.fraction() >= prob} << bit;
    return byte;
  });
}

Run dropout_do_mask(const Given& given) {
  const Tensor& self = given.tensor("self");
  const double prob = checked_probability("prob", given.number("prob"));
  require_mask_length(given, self.numel());
  given.require_shape("out", self.sizes);
  return [prob](const Arrays& arrays) {
    std::vector<double> values = arrays.read("self");
    const Sizes mask = arrays.read<int64_t>("mask");
    for (size_t i = 0; i < values.size(); ++i) {
      const bool kept = mask[i / 8] >> (i % 8) & 1 && prob < 1;
      values[i] = kept ? values[i] / (1 - prob) : 0;
    }
    arrays.write("out", values);
  };
}

}  // namespace softnpu::everyday
