// SPDX-License-Identifier: Apache-2.0
// The iteration space of an elementwise operator, classified once. Dimensions are sorted by the
// output's strides and merged if every operand allows it. The output is usually contiguous along x,
// and an input that is not contiguous along x may be contiguous along y.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "base/export.h"
#include "base/status.h"
#include "loops/threads.h"
#include "tensor/tensor.h"

namespace softnpu::loops {

constexpr int kMaxOperands = 4;  // inputs first, then the one output
// The maximum number of dimensions for gathering element by element.
constexpr size_t kMostGathered = 8;
// The maximum number of elements in the tiles of all transposed inputs together.
constexpr int64_t kMostTransposed = kBlockBytes;

struct ElementwiseLayout {
  int operands = 0;
  std::array<DType, kMaxOperands> dtype{};
  int64_t nx = 1, ny = 1;
  std::array<int64_t, kMaxOperands> sx{}, sy{};
  // Tiles are the unit of work, ordered by x, then y, then the outer dimensions.
  bool far = false;       // operands are in memory, not in a cache
  bool stream = false;    // non-temporal stores
  bool y_first = false;   // tiles are ordered along y first
  bool gathered = false;  // a tile is elements in the output's order; all dimensions are in `outer`
  Order order = Order::forward;
  int64_t tile_x = 1, tile_y = 1, tiles_x = 1, tiles_y = 1, tiles = 0;
  // The dimensions other than x and y, outermost first.
  Dims outer;
  std::array<Dims, kMaxOperands> outer_strides;

  // Whether an input is contiguous along y, but not along x. Whole tiles of it are transposed.
  bool is_transposed(int k) const { return sy[k] == 1 && sx[k] != 1 && sx[k] != 0; }

  // Whether the rows of the output are dense, and those of each input are dense or repeat one
  // element.
  bool has_dense_rows() const {
    bool dense = sx[operands - 1] == 1;
    for (int k = 0; k + 1 < operands; ++k) dense &= sx[k] == 0 || sx[k] == 1;
    return dense;
  }

  int transposed_inputs() const {
    int count = 0;
    for (int k = 0; k + 1 < operands; ++k) count += is_transposed(k);
    return count;
  }

  bool has_dense_rows_only() const {
    for (int k = 0; k < operands; ++k)
      if (sx[k] != 1) return false;
    return true;
  }
};

// A kernel: computes tiles [begin, end). `origins` are the operands' first elements.
using ElementwiseKernel = void (*)(const ElementwiseLayout& layout, std::byte* const* origins,
                                   const void* formula, int64_t begin, int64_t end);

// Classifies operands, which are broadcast to the last one's sizes.
SOFTNPU_EXPORT ElementwiseLayout classify(std::span<const Tensor* const> operands);

// A planned elementwise operator: the layout, the kernel, and the formula's parameters.
class ElementwisePlan {
 public:
  template <class Formula>
  ElementwisePlan(std::span<const Tensor* const> operands, ElementwiseKernel kernel,
                  const Formula& formula)
      : kernel_(kernel), layout_(classify(operands)) {
    static_assert(sizeof(Formula) <= sizeof formula_ && std::is_trivially_copyable_v<Formula>);
    new (formula_.data()) Formula(formula);
    layout_.stream = layout_.far;
  }

  // For an output in new pages, where streaming stores are slower.
  void expect_fresh_output() { layout_.stream = false; }

  uint64_t workspace_size() const { return 0; }

  Status run(std::byte* const* origins, std::byte* /*workspace*/) const {
    const int64_t tile = layout_.tile_x * layout_.tile_y;
    const int64_t grain = tile >= kGrain || layout_.tiles <= 1 ? 1 : kGrain / tile;
    const int threads = is_for_one_thread(layout_.tiles * tile) ? 1 : thread_count();
    const Work work(*this, origins);
    parallel_for(layout_.tiles, grain, threads, work, layout_.order);
    return {};
  }

 private:
  bool is_for_one_thread(int64_t elements) const {
    return elements < kAlone && layout_.has_dense_rows();
  }

  // One cache line, because another core reads it.
  struct alignas(64) Work {
    const ElementwisePlan& plan;
    std::array<std::byte*, kMaxOperands> origins;

    Work(const ElementwisePlan& plan, std::byte* const* first) : plan(plan) {
      for (int k = 0; k < plan.layout_.operands; ++k) origins[k] = first[k];
    }

    void operator()(int64_t begin, int64_t end, int /*worker*/) const {
      plan.kernel_(plan.layout_, origins.data(), plan.formula_.data(), begin, end);
    }
  };

  ElementwiseKernel kernel_;
  alignas(double) std::array<std::byte, 64> formula_{};
  ElementwiseLayout layout_;
};

// A planned operator with one tensor that is both its input and its output.
class InPlacePlan {
 public:
  template <class Formula>
  InPlacePlan(const Tensor& tensor, ElementwiseKernel kernel, const Formula& formula)
      : plan_(std::array{&tensor, &tensor}, kernel, formula) {}

  void expect_fresh_output() {}
  uint64_t workspace_size() const { return 0; }
  Status run(std::byte* const* origins, std::byte* workspace) const {
    std::byte* const both[] = {origins[0], origins[0]};
    return plan_.run(both, workspace);
  }

 private:
  ElementwisePlan plan_;
};

}  // namespace softnpu::loops
