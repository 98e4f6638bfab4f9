// SPDX-License-Identifier: Apache-2.0
// Descriptions of tensors, data buffers and compile options, as programs for compiled operators and
// models make them. Nothing here computes with them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/dtype.h"
#include "base/export.h"
#include "base/handle_table.h"

namespace softnpu::runtime {

struct TensorDesc {
  DType dtype;
  Format format;
  std::vector<int64_t> sizes;  // negative where it is not known
  std::shared_ptr<const std::string> name = std::make_shared<const std::string>();

  // Nothing if a dimension is not known, or if the number is beyond 64 bits.
  SOFTNPU_EXPORT std::optional<size_t> elements() const;
};

struct DataBuffer {
  void* data;
  size_t size;
};

using TensorDescTable = HandleTable<const TensorDesc, HandleKind::tensor_desc>;
using DataBufferTable = HandleTable<const DataBuffer, HandleKind::data_buffer>;
SOFTNPU_EXPORT TensorDescTable& tensor_descs();
SOFTNPU_EXPORT DataBufferTable& data_buffers();

SOFTNPU_EXPORT Status set_compile_option(int32_t option, const char* value);
// Empty if the option was never set.
SOFTNPU_EXPORT Status compile_option(int32_t option, std::string& value);

}  // namespace softnpu::runtime
