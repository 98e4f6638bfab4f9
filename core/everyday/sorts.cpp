// SPDX-License-Identifier: Apache-2.0
// Orders along one dimension. And operators that select elements in memory's order,
// whose output has a size that only the kernel knows.
#include <algorithm>
#include <numeric>

#include "everyday/views.h"

namespace softnpu::everyday {
namespace {

// NaN is the largest number.
template <class T>
bool below(T a, T b) {
  return a < b || (b != b && a == a);
}

// The positions of n elements in ascending or descending order; equal ones stay in order.
template <class T>
void order(const T* row, bool descending, Sizes& positions) {
  std::iota(positions.begin(), positions.end(), 0);
  std::ranges::stable_sort(positions, [&](int64_t i, int64_t j) {
    return descending ? below(row[j], row[i]) : below(row[i], row[j]);
  });
}

// Along `dim`, `count` elements from `first` on in their order, and their positions.
struct Ordered {
  bool descending;
  int64_t first, count;
  const char* values;  // null: the operator has none
  bool nan_wins = false;
};

Run ordered(const Given& given, const Ordered& wanted, bool keep = true) {
  const Tensor& self = given.tensor("self");
  const size_t dim = given.dim("dim", self);
  const Rows rows = rows_of(self, dim);
  Sizes sizes(self.sizes.begin(), self.sizes.end());
  if (!sizes.empty())
    sizes[dim] = wanted.count;
  else if (wanted.count == 0)
    sizes = {0};  // without its element, a tensor of rank 0 is one of rank 1
  if (!sizes.empty() && !keep) sizes.erase(sizes.begin() + static_cast<ptrdiff_t>(dim));
  if (wanted.values != nullptr) given.require_shape(wanted.values, sizes);
  given.require_shape("indices", sizes);
  const auto rows_in = [&](const char* name) {
    const Tensor& out = given.tensor(name);
    return keep ? rows_of(out, dim) : Rows{view_of(out)};
  };
  const Rows indices = rows_in("indices");
  const Rows values = wanted.values == nullptr ? indices : rows_in(wanted.values);
  return in_type(is_whole(self), [=](const Arrays& arrays, auto zero) {
    using T = decltype(zero);
    const std::vector<T> elements = read<T>(arrays, "self", rows);
    Sizes positions(static_cast<size_t>(rows.length)), chosen;
    std::vector<T> found;
    for (int64_t i = 0; i < rows.count && !elements.empty(); ++i) {
      const T* const row = elements.data() + i * rows.length;
      order(row, wanted.descending, positions);
      if (wanted.nan_wins && row[positions.back()] != row[positions.back()])
        positions[static_cast<size_t>(wanted.first)] = *std::ranges::find_if(
            positions, [row](int64_t position) { return row[position] != row[position]; });
      for (int64_t j = wanted.first; j < wanted.first + wanted.count; ++j) {
        chosen.push_back(positions[static_cast<size_t>(j)]);
        found.push_back(row[chosen.back()]);
      }
    }
    if (wanted.values != nullptr) write(arrays, wanted.values, values, found);
    write(arrays, "indices", indices, chosen);
  });
}

int64_t length_of_dim(const Given& given) {
  return rows_of(given.tensor("self"), given.dim("dim", given.tensor("self"))).length;
}

// k, which counts elements along `dim`.
int64_t checked_k(const Given& given, int64_t least) {
  const int64_t k = given.integer("k"), length = length_of_dim(given);
  require(least <= k && k <= length, "k-range"_rule, "k is ", k, "; expected ", least, " to ",
          length, ", the size of dim ", given.integer("dim"));
  return k;
}

void require_contiguous(const Given& given, std::string_view name) {
  const Tensor& tensor = given.tensor(name);
  require(is_contiguous(tensor), "resized-contiguous"_rule, name, " has strides ", tensor.strides,
          "; expected a contiguous tensor, whose size the operator sets");
}

}  // namespace

Run sort(const Given& given) {
  return ordered(given, {given.integer("descending") != 0, 0, length_of_dim(given), "values"});
}

Run argsort(const Given& given) {
  return ordered(given, {given.integer("descending") != 0, 0, length_of_dim(given), nullptr});
}

Run topk(const Given& given) {
  return ordered(given, {given.integer("largest") != 0, 0, checked_k(given, 0), "values"});
}

Run kthvalue(const Given& given) {
  const bool keep = given.integer("keepDim") != 0;
  return ordered(given, {false, checked_k(given, 1) - 1, 1, "values"}, keep);
}

// Of an even number of elements, the lower one of the two in the middle.
Run median_dim(const Given& given) {
  const int64_t length = length_of_dim(given);
  require(length > 0, "reduction-empty"_rule, "self has no elements along dim ",
          given.integer("dim"), "; expected at least one");
  return ordered(given, {false, (length - 1) / 2, 1, "values", true},
                 given.integer("keepDim") != 0);
}

// Where each element of self belongs in its row of sortedSequence: before equal ones, or after.
Run search_sorted(const Given& given) {
  const Tensor &sorted = given.tensor("sortedSequence"), &self = given.tensor("self");
  const auto outer = [](const Tensor& t) {
    return std::vector(t.sizes.begin(), t.sizes.end() - (t.rank() > 0));
  };
  require(sorted.rank() > 0 && (sorted.rank() == 1 || outer(sorted) == outer(self)),
          "shape-differs"_rule, "sortedSequence has shape ", sorted.sizes, " and self has shape ",
          self.sizes, "; expected rank 1, or equal sizes except in the last dimension");
  if (given.has("sorter")) given.require_shape("sorter", sorted.sizes);
  given.require_shape("out", self.sizes);
  const auto length = static_cast<size_t>(sorted.sizes.back());
  const size_t searched = sorted.rank() == 1 ? 0 : static_cast<size_t>(self.sizes.back());
  const bool right = given.integer("right") != 0, has_sorter = given.has("sorter");
  return in_type(is_whole(sorted) && is_whole(self), [=, sizes = sorted.sizes](const Arrays& arrays,
                                                                               auto zero) {
    using T = decltype(zero);
    const std::vector<T> rows = arrays.read<T>("sortedSequence"), values = arrays.read<T>("self");
    const Sizes sorter =
        has_sorter ? read_indices(arrays, "sorter", sizes, static_cast<int64_t>(length)) : Sizes();
    Sizes found(values.size());
    for (size_t i = 0; i < values.size(); ++i) {
      const size_t row = searched == 0 ? 0 : i / searched * length;
      const auto before = [&](size_t at) {
        const T& element = rows[row + (has_sorter ? static_cast<size_t>(sorter[row + at]) : at)];
        return right ? !below(values[i], element) : below(element, values[i]);
      };
      size_t low = 0, high = length;
      while (low < high) {
        const size_t middle = low + (high - low) / 2;
        (before(middle) ? low : high) = before(middle) ? middle + 1 : middle;
      }
      found[i] = static_cast<int64_t>(low);
    }
    arrays.write("out", found);
  });
}

namespace {

// The distinct elements in order, where each element is among them, and how often each is there.
Run distinct(const Given& given, bool inverse, bool counts) {
  const Tensor& self = given.tensor("self");
  require_contiguous(given, "valueOut");
  if (inverse) given.require_shape("inverseOut", self.sizes);
  if (counts) require_contiguous(given, "countsOut");
  const int64_t room = given.tensor("valueOut").numel();
  const int64_t count_room = counts ? given.tensor("countsOut").numel() : 0;
  return in_type(is_whole(self), [=](const Arrays& arrays, auto zero) {
    using T = decltype(zero);
    const std::vector<T> elements = arrays.read<T>("self");
    Sizes positions(elements.size()), inverses(elements.size()), repeats;
    order(elements.data(), false, positions);
    std::vector<T> values;
    for (int64_t position : positions) {
      const auto i = static_cast<size_t>(position);
      if (values.empty() || elements[i] != values.back()) {  // NaN differs from itself
        values.push_back(elements[i]);
        repeats.push_back(0);
      }
      ++repeats.back();
      inverses[i] = static_cast<int64_t>(values.size()) - 1;
    }
    const auto size = static_cast<int64_t>(values.size());
    require_room("valueOut", size, room);
    if (counts) require_room("countsOut", size, count_room);
    arrays.write_resized("valueOut", values, {size});
    if (inverse) arrays.write("inverseOut", inverses);
    if (counts) arrays.write_resized("countsOut", repeats, {size});
  });
}

}  // namespace

Run unique(const Given& given) {
  return distinct(given, given.integer("returnInverse") != 0, false);
}

Run unique2(const Given& given) {
  return distinct(given, given.integer("returnInverse") != 0, given.integer("returnCounts") != 0);
}

Run masked_select(const Given& given) {
  const Tensor &self = given.tensor("self"), &mask = given.tensor("mask");
  require_mask_type(given, "mask");
  const auto sizes = broadcast_sizes(self.sizes, mask.sizes);
  require(sizes.has_value(), "broadcast"_rule, "mask has shape ", mask.sizes,
          ", which cannot be broadcast with ", self.sizes);
  require_contiguous(given, "out");
  const int64_t room = given.tensor("out").numel();
  return in_type(is_whole(self), [sizes = *sizes, room](const Arrays& arrays, auto zero) {
    auto values = arrays.read<decltype(zero)>("self", sizes);
    const Sizes chosen = arrays.read<int64_t>("mask", sizes);
    size_t count = 0;
    for (size_t i = 0; i < values.size(); ++i)
      if (chosen[i] != 0) values[count++] = values[i];
    values.resize(count);
    require_room("out", static_cast<int64_t>(count), room);
    arrays.write_resized("out", values, {static_cast<int64_t>(count)});
  });
}

Run nonzero(const Given& given) {
  const Tensor &self = given.tensor("self"), &out = given.tensor("out");
  const auto rank = static_cast<int64_t>(self.rank());
  require(out.rank() == 2 && out.sizes[1] == rank, "shape-differs"_rule, "out has shape ",
          out.sizes, "; expected [", self.numel(), ", ", rank, "]");
  require_contiguous(given, "out");
  return in_type(is_whole(self),
                 [rank, sizes = self.sizes, room = out.sizes[0]](const Arrays& arrays, auto zero) {
                   const auto values = arrays.read<decltype(zero)>("self");
                   Sizes found;
                   int64_t count = 0;
                   for (size_t i = 0; i < values.size(); ++i) {
                     if (values[i] == 0) continue;
                     ++count;
                     Dims at(sizes.size());
                     auto rest = static_cast<int64_t>(i);
                     for (size_t d = at.size(); d-- > 0; rest /= sizes[d]) at[d] = rest % sizes[d];
                     found.insert(found.end(), at.begin(), at.end());
                   }
                   require_room("out", count, room);
                   arrays.write_resized("out", found, {count, rank});
                 });
}

}  // namespace softnpu::everyday
