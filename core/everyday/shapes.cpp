// SPDX-License-Identifier: Apache-2.0
// The same elements in another order or shape: views of the tensors, which are copied.
#include <algorithm>
#include <numeric>

#include "everyday/views.h"

namespace softnpu::everyday {
namespace {

// out = the view of self
Run copy_view(const Tensor& view) {
  return [view](const Arrays& arrays) {
    copy(at(arrays.view("self"), view), view.sizes, arrays.view("out"));
  };
}

// Sizes after a function that changes one of them; a tensor of rank 0 keeps its own if it keeps its
// element.
Sizes resized(const Tensor& tensor, size_t dim, int64_t size) {
  Sizes sizes(tensor.sizes.begin(), tensor.sizes.end());
  if (sizes.empty()) return size == 1 ? sizes : Sizes{size};
  sizes[dim] = size;
  return sizes;
}

// Copies the members of a list to views of the output, one after the other.
Run join(const Given& given, const std::vector<Tensor>& views) {
  std::vector<Dims> sizes;
  for (const Tensor* member : given.list("tensors")) sizes.push_back(member->sizes);
  return [=](const Arrays& arrays) {
    for (size_t i = 0; i < views.size(); ++i)
      copy(arrays.member("tensors", i), sizes[i], at(arrays.view("out"), views[i]));
  };
}

std::vector<const Tensor*> present_tensors(const Given& given) {
  const auto members = given.list("tensors");
  require(!members.empty(), "list-empty"_rule, "tensors is empty; expected one tensor at least");
  for (size_t i = 0; i < members.size(); ++i)
    require(members[i] != nullptr, "list-member-null"_rule, "tensors[", i, "] is null");
  return members;
}

}  // namespace

Run cat(const Given& given) {
  const auto members = present_tensors(given);
  const Tensor& out = given.tensor("out");
  const size_t dim = given.dim("dim", out);
  std::vector<Tensor> views;
  int64_t end = 0;
  for (size_t i = 0; i < members.size(); ++i) {
    const Tensor& member = *members[i];
    Tensor view = view_of(out);
    const bool nothing = member.rank() == 1 && member.sizes[0] == 0;  // as PyTorch, of any rank
    const int64_t size = nothing || member.rank() <= dim ? 0 : member.sizes[dim];
    require(nothing || (member.rank() > 0 &&
                        resized(out, dim, size) == Sizes(member.sizes.begin(), member.sizes.end())),
            "shape-differs"_rule, "tensors[", i, "] has shape ", member.sizes, ", out has ",
            out.sizes, "; expected equal sizes except in dimension ", dim);
    if (nothing) view.sizes = view.strides = Dims{0};
    if (!nothing) narrow(view, dim, end, size);
    end += size;
    views.push_back(view);
  }
  given.require_shape("out", resized(out, dim, end));
  return join(given, views);
}

Run stack(const Given& given) {
  const auto members = present_tensors(given);
  const Tensor& out = given.tensor("out");
  Sizes sizes(members[0]->sizes.begin(), members[0]->sizes.end());
  const auto rank = static_cast<int64_t>(sizes.size()) + 1;
  int64_t dim = given.integer("dim");
  require(-rank <= dim && dim < rank, "dim-range"_rule, "dim is ", dim, "; expected ", -rank,
          " to ", rank - 1);
  if (dim < 0) dim += rank;
  for (size_t i = 0; i < members.size(); ++i)
    require(members[i]->sizes == members[0]->sizes, "shape-differs"_rule, "tensors[", i,
            "] has shape ", members[i]->sizes, "; expected ", members[0]->sizes);
  sizes.insert(sizes.begin() + dim, static_cast<int64_t>(members.size()));
  given.require_shape("out", sizes);
  std::vector<Tensor> views(members.size(), view_of(out));
  for (size_t i = 0; i < views.size(); ++i) {
    Tensor& view = views[i];
    view.offset = static_cast<int64_t>(i) * out.strides[static_cast<size_t>(dim)];
    view.sizes = members[0]->sizes;
    Sizes strides(out.strides.begin(), out.strides.end());
    strides.erase(strides.begin() + dim);
    view.strides = Dims(strides);
  }
  return join(given, views);
}

Run split_with_size(const Given& given) {
  const Tensor& self = given.tensor("self");
  const size_t dim = given.dim("dim", self);
  const IntArray& sizes = given.ints("sizes");
  const auto outs = given.list("out");
  require_length(given, "sizes", outs.size());
  std::vector<Tensor> views;
  int64_t end = 0;
  for (size_t i = 0; i < outs.size(); ++i) {
    require(outs[i] != nullptr, "list-member-null"_rule, "out[", i, "] is null");
    Tensor view = view_of(self);
    require(sizes[i] >= 0 && sizes[i] <= view.sizes[dim] - end, "sizes-sum"_rule, "sizes is ",
            sizes, "; expected sizes of 0 or more whose sum is ", view.sizes[dim]);
    narrow(view, dim, end, sizes[i]);
    const Dims wanted(resized(self, dim, sizes[i]));
    require(outs[i]->sizes == wanted, "shape-differs"_rule, "out[", i, "] has shape ",
            outs[i]->sizes, "; expected ", wanted);
    end += sizes[i];
    views.push_back(view);
  }
  require(end == view_of(self).sizes[dim], "sizes-sum"_rule, "sizes is ", sizes,
          "; expected sizes of 0 or more whose sum is ", view_of(self).sizes[dim]);
  return [views](const Arrays& arrays) {
    for (size_t i = 0; i < views.size(); ++i)
      copy(at(arrays.view("self"), views[i]), views[i].sizes, arrays.member("out", i));
  };
}

Run permute(const Given& given) {
  const Tensor& self = given.tensor("self");
  require_length(given, "dims", self.rank());
  given.dims("dims", self);
  Tensor view = self;
  view.offset = 0;
  std::vector<size_t> order;
  for (int64_t dim : given.ints("dims"))
    order.push_back(static_cast<size_t>(dim < 0 ? dim + static_cast<int64_t>(self.rank()) : dim));
  view = reordered(view, order);
  given.require_shape("out", view.sizes);
  return copy_view(view);
}

Run expand(const Given& given) {
  const Tensor& self = given.tensor("self");
  Dims size = given.ints("size");
  require(size.size() >= self.rank(), "array-length"_rule, "size has ", size.size(),
          " elements; expected ", self.rank(), " or more, the rank of self");
  const size_t added = size.size() - self.rank();
  for (size_t d = added; d < size.size(); ++d)
    if (size[d] == -1) size[d] = self.sizes[d - added];
  const bool fits = broadcast_sizes(self.sizes, size) == size;
  require(fits && std::ranges::all_of(size, [](int64_t each) { return each >= 0; }),
          "broadcast"_rule, "self has shape ", self.sizes, ", which cannot be broadcast to ", size);
  given.require_shape("out", size);
  return [size](const Arrays& arrays) { copy(arrays.view("self"), size, arrays.view("out")); };
}

Run repeat(const Given& given) {
  const Tensor& self = given.tensor("self");
  const IntArray& repeats = given.ints("repeats");
  require(repeats.size() >= self.rank(), "array-length"_rule, "repeats has ", repeats.size(),
          " elements; expected ", self.rank(), " or more, the rank of self");
  Sizes sizes, pairs, strides;  // each dimension: its repetitions, then its elements
  for (size_t d = 0; d < repeats.size(); ++d) {
    const size_t added = repeats.size() - self.rank();
    const int64_t size = d < added ? 1 : self.sizes[d - added];
    require(repeats[d] >= 0 && checked_mul(repeats[d], size), "repeats-range"_rule, "repeats is ",
            repeats, "; expected 0 or more, and sizes that fit 64 bits");
    sizes.push_back(repeats[d] * size);
    pairs.insert(pairs.end(), {repeats[d], size});
    strides.insert(strides.end(), {0, d < added ? 0 : self.strides[d - added]});
  }
  given.require_shape("out", sizes);
  Tensor view = view_of(self);
  view.sizes = Dims(pairs);
  view.strides = Dims(strides);
  return copy_view(view);
}

Run flip(const Given& given) {
  const Tensor& self = given.tensor("self");
  given.require_shape("out", self.sizes);
  Tensor view = view_of(self);
  const std::vector<bool> flipped = given.dims("dims", self);
  for (size_t d = 0; d < view.rank() && !given.ints("dims").empty(); ++d)
    if (flipped[d]) narrow(view, d, view.sizes[d] - 1, view.sizes[d], -1);
  return copy_view(view);
}

Run roll(const Given& given) {
  const Tensor& self = given.tensor("self");
  const IntArray &shifts = given.ints("shifts"), &dims = given.ints("dims");
  require_length(given, "shifts", std::max<size_t>(dims.size(), 1));
  given.require_shape("out", self.sizes);
  struct Turn {
    int64_t length, inner, first;
  };
  std::vector<Turn> turns;
  const auto rank = static_cast<int64_t>(view_of(self).rank());
  for (size_t i = 0; i < shifts.size(); ++i) {
    Turn turn{self.numel(), 1, 0};
    if (!dims.empty()) {
      require(-rank <= dims[i] && dims[i] < rank, "dim-range"_rule, "dims is ", dims, "; expected ",
              -rank, " to ", rank - 1, " for shape ", self.sizes);
      const auto dim = static_cast<size_t>(dims[i] < 0 ? dims[i] + rank : dims[i]);
      turn.length = view_of(self).sizes[dim];
      for (size_t d = dim + 1; d < self.rank(); ++d) turn.inner *= self.sizes[d];
    }
    if (turn.length == 0 || turn.inner == 0) continue;
    const int64_t shift = shifts[i] % turn.length;
    turn.first = shift > 0 ? turn.length - shift : -shift;
    turns.push_back(turn);
  }
  return in_type(is_whole(self), [=](const Arrays& arrays, auto zero) {
    auto values = arrays.read<decltype(zero)>("self");
    for (const auto& [length, inner, first] : turns)
      for (auto* row = values.data(); row != values.data() + values.size(); row += length * inner)
        std::rotate(row, row + first * inner, row + length * inner);
    arrays.write("out", values);
  });
}

Run slice(const Given& given) {
  const Tensor& self = given.tensor("self");
  const size_t dim = given.dim("dim", self);
  const int64_t step = given.integer("step");
  require(step > 0, "step-range"_rule, "step is ", step, "; expected 1 or more");
  Tensor view = view_of(self);
  const int64_t size = view.sizes[dim];
  const auto bound = [&](int64_t i) { return std::clamp<int64_t>(i < 0 ? i + size : i, 0, size); };
  const int64_t start = bound(given.integer("start")), end = bound(given.integer("end"));
  const int64_t count = end > start ? (end - start - 1) / step + 1 : 0;
  narrow(view, dim, start, count, count > 1 ? step : 1);
  given.require_shape("out", resized(self, dim, count));
  return copy_view(view);
}

}  // namespace softnpu::everyday
