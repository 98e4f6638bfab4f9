// SPDX-License-Identifier: Apache-2.0
// Copies, the only operators whose tensors may lie on two devices.
#pragma once

#include <ATen/core/Tensor.h>
#include <c10/core/Stream.h>

namespace softnpu::npu {

at::Tensor& copy_(at::Tensor& to, const at::Tensor& from, bool non_blocking);
at::Tensor copy_from(const at::Tensor& from, const at::Tensor& to, bool non_blocking);
at::Tensor copy_from_and_resize(const at::Tensor& from, const at::Tensor& to);

// The program has waited for these streams.
void forget_copies(c10::ArrayRef<c10::Stream> streams);

}  // namespace softnpu::npu
