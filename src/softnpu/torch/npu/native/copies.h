// SPDX-License-Identifier: Apache-2.0
// Copies, the only operators whose tensors may lie on two devices.
#pragma once

#include <ATen/core/Tensor.h>

namespace softnpu::npu {

at::Tensor& copy_(at::Tensor& to, const at::Tensor& from, bool non_blocking);
at::Tensor copy_from(const at::Tensor& from, const at::Tensor& to, bool non_blocking);
at::Tensor copy_from_and_resize(const at::Tensor& from, const at::Tensor& to);

}  // namespace softnpu::npu
