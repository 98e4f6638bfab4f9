// SPDX-License-Identifier: Apache-2.0
// Views overlap when a bounded linear equation has a solution: sum of step_i · x_i = target with
// 0 <= x_i <= limit_i. The search goes from the largest step to the smallest; at each the values
// of x that can still reach the target form a short range, so that real layouts take a few steps.
// Layouts that are built to be hard run out of a budget and count as overlapping.
#include "tensor/overlap.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <numeric>
#include <vector>

namespace softnpu {
namespace {

__extension__ using Wide = __int128;  // products of two int64 sizes

struct Term {
  int64_t step;   // above 0
  int64_t limit;  // above 0
};

class Equation {
 public:
  explicit Equation(std::vector<Term> terms) : terms_(std::move(terms)) {
    std::sort(terms_.begin(), terms_.end(),
              [](const Term& a, const Term& b) { return a.step > b.step; });
    reach_.resize(terms_.size() + 1);
    divisor_.resize(terms_.size() + 1);
    for (size_t i = terms_.size(); i-- > 0;) {
      reach_[i] = reach_[i + 1] + Wide(terms_[i].step) * terms_[i].limit;
      divisor_[i] = std::gcd(divisor_[i + 1], terms_[i].step);
    }
  }

  bool has_solution(Wide target) { return search(0, target); }

 private:
  bool search(size_t i, Wide target) {
    if (target < 0 || target > reach_[i]) return false;
    if (target == 0) return true;
    if (target % divisor_[i] != 0) return false;
    if (--budget_ <= 0) return true;
    const Term& term = terms_[i];
    const Wide most = std::min<Wide>(term.limit, target / term.step);
    const Wide short_of = target - reach_[i + 1];
    const Wide least = short_of <= 0 ? 0 : (short_of + term.step - 1) / term.step;
    for (Wide x = most; x >= least; --x)
      if (search(i + 1, target - x * term.step)) return true;
    return false;
  }

  std::vector<Term> terms_;
  std::vector<Wide> reach_;       // the largest sum that terms i, i+1, … can give
  std::vector<int64_t> divisor_;  // and the divisor that all their sums share
  int64_t budget_ = 200000;
};

// The bytes that a view lies in: the address of its lowest, and how far its elements start from it.
struct Bounds {
  intptr_t low;
  Wide reach;
};

Bounds bounds_of(const Tensor& tensor) {
  const int64_t item = item_size(tensor.dtype);
  Bounds bounds{reinterpret_cast<intptr_t>(tensor.origin()), 0};
  for (size_t i = 0; i < tensor.rank(); ++i) {
    const Wide span = Wide(tensor.strides[i]) * item * (tensor.sizes[i] - 1);
    if (span < 0) bounds.low += static_cast<intptr_t>(span);
    bounds.reach += span < 0 ? -span : span;
  }
  return bounds;
}

void add_terms(const Tensor& tensor, std::vector<Term>& terms) {
  for (size_t i = 0; i < tensor.rank(); ++i) {
    const int64_t step = std::abs(tensor.strides[i]) * item_size(tensor.dtype);
    if (step != 0 && tensor.sizes[i] > 1) terms.push_back({step, tensor.sizes[i] - 1});
  }
}

bool bounds_meet(const Bounds& a, int64_t item_a, const Bounds& b, int64_t item_b) {
  return a.low + a.reach + item_a > b.low && b.low + b.reach + item_b > a.low;
}

// Whether an element of each has a byte in common. Apart from overlaps(), which is quick where the
// views are far apart.
[[gnu::noinline]] bool share_bytes(const Tensor& a, const Tensor& b) {
  const int64_t item_a = item_size(a.dtype), item_b = item_size(b.dtype);
  const Bounds bounds_a = bounds_of(a), bounds_b = bounds_of(b);
  std::vector<Term> terms;
  add_terms(a, terms);
  add_terms(b, terms);
  // byte p of an element of a = byte q of an element of b:
  // a's terms + p + (b's reach - b's terms) + (item_b - 1 - q) = low_b - low_a + reach_b + item_b -
  // 1
  if (item_a > 1) terms.push_back({1, item_a - 1});
  if (item_b > 1) terms.push_back({1, item_b - 1});
  return Equation(std::move(terms))
      .has_solution(Wide(bounds_b.low) - bounds_a.low + bounds_b.reach + item_b - 1);
}

// Whether each step jumps over all that the smaller ones reach: so it is in every layout that is a
// dense one transposed or sliced.
bool steps_nest(const Tensor& tensor) {
  std::array<Term, 8> few;
  std::vector<Term> many(tensor.rank() > few.size() ? tensor.rank() : 0);
  Term* const terms = many.empty() ? few.data() : many.data();
  size_t count = 0;
  for (size_t i = 0; i < tensor.rank(); ++i) {
    if (tensor.sizes[i] <= 1) continue;
    const Term term{std::abs(tensor.strides[i]), tensor.sizes[i] - 1};
    size_t at = count++;
    for (; at > 0 && terms[at - 1].step > term.step; --at) terms[at] = terms[at - 1];
    terms[at] = term;
  }
  Wide inner = 0;
  for (size_t i = 0; i < count; ++i) {
    if (terms[i].step <= inner) return false;
    inner += Wide(terms[i].step) * terms[i].limit;
  }
  return true;
}

[[gnu::noinline]] bool elements_meet(const Tensor& tensor) {
  std::vector<Term> dims;
  for (size_t i = 0; i < tensor.rank(); ++i) {
    if (tensor.sizes[i] > 1 && tensor.strides[i] == 0) return true;
    if (tensor.sizes[i] > 1) dims.push_back({std::abs(tensor.strides[i]), tensor.sizes[i] - 1});
  }
  // Two equal addresses: a difference vector x in [-limit, limit] that is not zero. Its first
  // nonzero entry may be taken as positive, so each dimension is tried as that one.
  for (size_t first = 0; first < dims.size(); ++first) {
    std::vector<Term> terms{{dims[first].step, dims[first].limit - 1}};
    if (terms[0].limit == 0) terms.clear();
    Wide target = -Wide(dims[first].step);
    for (size_t i = first + 1; i < dims.size(); ++i) {
      terms.push_back({dims[i].step, 2 * dims[i].limit});
      target += Wide(dims[i].step) * dims[i].limit;
    }
    if (Equation(std::move(terms)).has_solution(target)) return true;
  }
  return false;
}

}  // namespace

bool overlaps_itself(const Tensor& tensor) {
  if (tensor.numel() <= 1 || is_contiguous(tensor) || steps_nest(tensor)) return false;
  return elements_meet(tensor);
}

bool overlaps(const Tensor& a, const Tensor& b) {
  if (a.numel() == 0 || b.numel() == 0) return false;
  if (!bounds_meet(bounds_of(a), item_size(a.dtype), bounds_of(b), item_size(b.dtype)))
    return false;
  return share_bytes(a, b);
}

bool is_same_view(const Tensor& a, const Tensor& b) {
  if (a.origin() != b.origin() || item_size(a.dtype) != item_size(b.dtype)) return false;
  if (!(a.sizes == b.sizes)) return false;
  for (size_t i = 0; i < a.rank(); ++i)
    if (a.sizes[i] > 1 && a.strides[i] != b.strides[i]) return false;
  return true;
}

}  // namespace softnpu
