// SPDX-License-Identifier: Apache-2.0
// Operators whose CPU kernels lack types that devices have: computed in float32, rounded once.
#include <torch/library.h>

#include "devices.h"
#include "fallback.h"

namespace softnpu::npu {
namespace {

using Stack = torch::jit::Stack;

bool is_integral(at::ScalarType type) { return c10::isIntegralType(type, false); }

// The type of the first argument that has one of the lacking types becomes that of the results.
template <bool (*kLacks)(at::ScalarType)>
void run_widened(const c10::OperatorHandle& op, Stack* stack) {
  std::optional<at::ScalarType> narrow;
  const size_t first = stack->size() - op.schema().arguments().size();
  for (size_t i = first; i < stack->size(); ++i) {
    c10::IValue& value = (*stack)[i];
    if (!value.isTensor() || !kLacks(value.toTensor().scalar_type())) continue;
    if (!narrow) narrow = value.toTensor().scalar_type();
    value = value.toTensor().to(at::kFloat);
  }
  run_on_cpu(op, stack);
  if (!narrow) return;
  for (size_t i = stack->size() - op.schema().returns().size(); i < stack->size(); ++i) {
    c10::IValue& value = (*stack)[i];
    if (value.isTensor() && value.toTensor().scalar_type() == at::kFloat)
      value = value.toTensor().to(*narrow);
  }
}

template <bool (*kLacks)(at::ScalarType)>
void widen(torch::Library& library, std::initializer_list<const char*> names) {
  for (const char* name : names)
    library.impl(name, torch::CppFunction::makeFromBoxedFunction<&run_widened<kLacks>>());
}

}  // namespace

TORCH_LIBRARY_IMPL(aten, PrivateUse1, m) {
  widen<&is_integral>(m, {"histc"});
  widen<&c10::isReducedFloatingType>(
      m, {"avg_pool3d", "avg_pool3d_backward", "_upsample_bilinear2d_aa",
          "_upsample_bilinear2d_aa_backward", "multi_margin_loss", "multi_margin_loss_backward",
          "multilabel_margin_loss_forward", "multilabel_margin_loss_backward", "round.decimals"});
}

// The package may be imported later, or never.
TORCH_LIBRARY_IMPL(torchvision, PrivateUse1, m) {
  widen<&c10::isReducedFloatingType>(
      m, {"nms", "roi_align", "_roi_align_backward", "roi_pool", "_roi_pool_backward",
          "ps_roi_align", "_ps_roi_align_backward", "ps_roi_pool", "_ps_roi_pool_backward",
          "deform_conv2d", "_deform_conv2d_backward"});
}

}  // namespace softnpu::npu
