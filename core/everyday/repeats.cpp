// SPDX-License-Identifier: Apache-2.0
// Slices along a dimension, or elements, each of which is repeated.
#include <functional>

#include "everyday/layers.h"
#include "everyday/views.h"

namespace softnpu::everyday {
namespace {

// How often each slice is repeated, which may depend on elements.
using Counts = std::function<Sizes(const Arrays&)>;

Run interleave(const Given& given, const Dims& sizes, size_t dim, const Counts& counts) {
  Dims repeated = sizes;
  repeated[dim] = given.integer("outputSize");
  given.require_shape("out", repeated);
  return in_type(is_whole(given.tensor("self")),
                 [=, at = around(sizes, dim)](const Arrays& arrays, auto zero) {
                   const auto values = arrays.read<decltype(zero)>("self");
                   const Sizes each = counts(arrays);
                   std::vector<decltype(zero)> out;
                   auto slice = values.begin();
                   for (int64_t o = 0; o < at.outer && !values.empty(); ++o)
                     for (int64_t count : each) {
                       for (; count > 0; --count) out.insert(out.end(), slice, slice + at.inner);
                       slice += at.inner;
                     }
                   arrays.write("out", out);
                 });
}

Run interleave_int(const Given& given, const Dims& sizes, size_t dim) {
  const int64_t repeats = given.integer("repeats"), length = sizes[dim];
  require(repeats >= 0 && checked_mul(repeats, length), "repeats-range"_rule, "repeats is ",
          repeats, "; expected 0 or more, and sizes that fit 64 bits");
  require(given.integer("outputSize") == repeats * length, "repeated-size"_rule, "outputSize is ",
          given.integer("outputSize"), "; expected ", repeats * length);
  return interleave(given, sizes, dim,
                    [=](const Arrays&) { return Sizes(static_cast<size_t>(length), repeats); });
}

Run interleave_tensor(const Given& given, const Dims& sizes, size_t dim) {
  const int64_t length = sizes[dim], total = given.integer("outputSize");
  const Dims& repeats = given.tensor("repeats").sizes;
  require_index_type(given, "repeats");
  require(repeats.empty() || repeats == Dims{1} || repeats == Dims{length}, "shape-differs"_rule,
          "repeats has shape ", repeats, "; expected [1] or [", length, "]");
  return interleave(given, sizes, dim, [=](const Arrays& arrays) {
    const Sizes counts = arrays.read<int64_t>("repeats", Dims{length});
    int64_t sum = 0;
    for (int64_t count : counts) {
      const auto next = checked_add(sum, count);
      if (count < 0 || !next || *next > total)
        throw Failure{fail("repeated-size"_rule, kRuntimeError, "repeats has ", count,
                           "; expected 0 or more, and a sum of ", total, ", as outputSize says")};
      sum = *next;
    }
    if (sum != total)
      throw Failure{fail("repeated-size"_rule, kRuntimeError, "the sum of repeats is ", sum,
                         "; expected ", total, ", as outputSize says")};
    return counts;
  });
}

Dims flat(const Given& given) { return Dims{given.tensor("self").numel()}; }

}  // namespace

Run repeat_interleave(const Given& given) { return interleave_tensor(given, flat(given), 0); }

Run repeat_interleave_int(const Given& given) { return interleave_int(given, flat(given), 0); }

Run repeat_interleave_with_dim(const Given& given) {
  const Tensor& self = given.tensor("self");
  return interleave_tensor(given, view_of(self).sizes, given.dim("dim", self));
}

Run repeat_interleave_int_with_dim(const Given& given) {
  const Tensor& self = given.tensor("self");
  return interleave_int(given, view_of(self).sizes, given.dim("dim", self));
}

}  // namespace softnpu::everyday
