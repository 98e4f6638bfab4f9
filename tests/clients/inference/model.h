// SPDX-License-Identifier: Apache-2.0
// A small decoder: a volume is upsampled, goes through two activations in two branches, and both
// are compared. Its tensors are allocated once, at the size of a request.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "device.h"

struct aclOpExecutor;

namespace rt {

class Tensor : Unique {
 public:
  Tensor(Allocator& pool, std::vector<int64_t> sizes);
  ~Tensor();

  void* data() const { return data_; }
  size_t bytes() const { return bytes_; }
  const std::vector<int64_t>& sizes() const { return sizes_; }

 private:
  Allocator& pool_;
  std::vector<int64_t> sizes_;
  size_t bytes_ = sizeof(float);
  void* data_ = nullptr;
};

class Model {
 public:
  Model(Allocator& pool, int64_t side);

  // Puts one forward pass into the main stream; the second branch runs beside it.
  void forward(Stream& main, Stream& side);

  size_t inputs() const { return input_.bytes() / sizeof(float); }
  size_t outputs() const { return loss_.bytes() / sizeof(float); }
  const Tensor& input() const { return input_; }
  const Tensor& loss() const { return loss_; }

  static constexpr float kAlpha = 0.5f;
  static constexpr float kBeta = 0.25f;

 private:
  void upsample(Stream& stream);
  void elu(Stream& stream);
  void selu(Stream& stream);
  void compare(Stream& stream);
  // What an operator asked for, enough for all; one for each stream.
  void* workspace(const Stream& stream, uint64_t bytes);

  Allocator& pool_;
  Tensor input_, large_, left_, right_, loss_;
  Event forked_, joined_;
  std::vector<std::pair<aclrtStream, std::unique_ptr<Tensor>>> workspaces_;
};

}  // namespace rt
