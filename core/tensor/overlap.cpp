// SPDX-License-Identifier: Apache-2.0
// Views overlap if a bounded linear equation has a solution: sum of step_i · x_i = target with 0 <=
// x_i <= limit_i. The search goes from the largest step to the smallest. At each step, the values
// of x that can still reach the target form a short range, so real layouts take few steps. Layouts
// built to be hard exceed a budget and count as overlapping.
#include "tensor/overlap.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <numeric>
#include <vector>

namespace softnpu {
namespace {

using Wide = Bounds::Wide;

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
    const Term& term = terms_[i];
    const Wide most = std::min<Wide>(term.limit, target / term.step);
    const Wide short_of = target - reach_[i + 1];
    const Wide least = short_of <= 0 ? 0 : (short_of + term.step - 1) / term.step;
    for (Wide x = most; x >= least; --x)
      if (--budget_ <= 0 || search(i + 1, target - x * term.step)) return true;
    return false;
  }

  std::vector<Term> terms_;
  std::vector<Wide> reach_;       // the largest sum of terms i, i+1, …
  std::vector<int64_t> divisor_;  // the common divisor of their sums
  int64_t budget_ = 1'000'000;    // steps, so that no search takes noticeable time
};

void add_terms(const Tensor& tensor, std::vector<Term>& terms) {
  for (size_t i = 0; i < tensor.rank(); ++i) {
    if (tensor.sizes[i] <= 1 || tensor.strides[i] == 0) continue;  // does not change the address
    terms.push_back({std::abs(tensor.strides[i]) * item_size(tensor.dtype), tensor.sizes[i] - 1});
  }
}

// Whether each step exceeds the reach of all smaller ones, as in all transposed or sliced dense
// layouts.
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
  // Two elements have equal addresses if a nonzero difference vector x in [-limit, limit] has the
  // sum 0. Its first nonzero entry can be assumed to be positive, so each dimension is tried as the
  // first one.
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

Bounds::Bounds(const Tensor& tensor)
    : low_(reinterpret_cast<intptr_t>(tensor.origin())), end_(low_ + item_size(tensor.dtype)) {
  if (tensor.numel() == 0) {  // an empty range; other sizes and strides may overflow
    low_ = INTPTR_MAX;
    end_ = INTPTR_MIN;
    return;
  }
  const int64_t *const sizes = tensor.sizes.data(), *const strides = tensor.strides.data();
  const int64_t item = item_size(tensor.dtype);
  for (size_t i = 0; i < tensor.rank(); ++i) {
    const Wide span = Wide(strides[i]) * item * (sizes[i] - 1);
    (span < 0 ? low_ : end_) += span;
  }
}

bool overlaps(const Tensor& a, const Tensor& b) {
  const Bounds bounds_a(a), bounds_b(b);
  if (!bounds_a.meet(bounds_b)) return false;
  const int64_t item_a = item_size(a.dtype), item_b = item_size(b.dtype);
  std::vector<Term> terms;
  add_terms(a, terms);
  add_terms(b, terms);
  // byte p of an element of a = byte q of an element of b:
  // a's terms + p + (b's reach - b's terms) + (item_b - 1 - q) = b's end - 1 - a's low
  if (item_a > 1) terms.push_back({1, item_a - 1});
  if (item_b > 1) terms.push_back({1, item_b - 1});
  return Equation(std::move(terms)).has_solution(bounds_b.end() - 1 - bounds_a.low());
}

bool is_same_view(const Tensor& a, const Tensor& b) {
  if (a.origin() != b.origin() || a.dtype != b.dtype) return false;
  if (!(a.sizes == b.sizes)) return false;
  for (size_t i = 0; i < a.rank(); ++i)
    if (a.sizes[i] > 1 && a.strides[i] != b.strides[i]) return false;
  return true;
}

}  // namespace softnpu
