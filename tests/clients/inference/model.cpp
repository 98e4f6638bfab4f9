// SPDX-License-Identifier: Apache-2.0
#include "model.h"

#include <utility>

#include "aclnn/aclnn_base.h"
#include "aclnnop/aclnn_elu.h"
#include "aclnnop/aclnn_selu.h"
#include "aclnnop/aclnn_smooth_l1_loss.h"
#include "aclnnop/aclnn_upsample_nearest_3d.h"

namespace rt {
namespace {

// Descriptors live until phase two was called, and no longer.
struct Described {
  explicit Described(const Tensor& tensor) {
    const auto& sizes = tensor.sizes();
    const auto format = sizes.size() == 5 ? ACL_FORMAT_NCDHW : ACL_FORMAT_ND;
    get = aclCreateTensor(sizes.data(), sizes.size(), ACL_FLOAT, nullptr, 0, format, sizes.data(),
                          sizes.size(), tensor.data());
    if (get == nullptr) throw Error("aclCreateTensor", -1);
  }
  ~Described() { aclDestroyTensor(get); }
  aclTensor* get;
};

struct Number {
  explicit Number(double value) : get(aclCreateScalar(&value, ACL_DOUBLE)) {}
  ~Number() { aclDestroyScalar(get); }
  aclScalar* get;
};

std::vector<int64_t> doubled(int64_t side) { return {1, 2, 2 * side, 2 * side, 2 * side}; }

}  // namespace

Tensor::Tensor(Allocator& pool, std::vector<int64_t> sizes)
    : pool_(pool), sizes_(std::move(sizes)) {
  for (const int64_t size : sizes_) bytes_ *= static_cast<size_t>(size);
  data_ = pool_.allocate(bytes_);
}

Tensor::~Tensor() { pool_.give_back(data_); }

Model::Model(Allocator& pool, int64_t side)
    : pool_(pool),
      input_(pool, {1, 2, side, side, side}),
      large_(pool, doubled(side)),
      left_(pool, doubled(side)),
      right_(pool, doubled(side)),
      loss_(pool, doubled(side)) {}

void Model::forward(Stream& main, Stream& side) {
  upsample(main);
  forked_.record(main);
  forked_.hold_back(side);
  elu(main);
  selu(side);
  joined_.record(side);
  joined_.hold_back(main);
  compare(main);
}

void* Model::workspace(const Stream& stream, uint64_t bytes) {
  if (bytes == 0) return nullptr;
  for (auto& each : workspaces_)
    if (each.first == stream.get() && each.second->bytes() >= bytes) return each.second->data();
  auto room = std::make_unique<Tensor>(pool_, std::vector<int64_t>{static_cast<int64_t>(bytes)});
  workspaces_.emplace_back(stream.get(), std::move(room));
  return workspaces_.back().second->data();
}

void Model::upsample(Stream& stream) {
  const Described in(input_), out(large_);
  const auto& sizes = large_.sizes();
  aclIntArray* const target = aclCreateIntArray(sizes.data() + 2, 3);
  uint64_t bytes = 0;
  aclOpExecutor* executor = nullptr;
  RT_CHECK(
      aclnnUpsampleNearest3dGetWorkspaceSize(in.get, target, 2, 2, 2, out.get, &bytes, &executor));
  RT_CHECK(aclnnUpsampleNearest3d(workspace(stream, bytes), bytes, executor, stream.get()));
  RT_CHECK(aclDestroyIntArray(target));
}

void Model::elu(Stream& stream) {
  const Described in(large_), out(left_);
  const Number alpha(kAlpha), one(1);
  uint64_t bytes = 0;
  aclOpExecutor* executor = nullptr;
  RT_CHECK(
      aclnnEluGetWorkspaceSize(in.get, alpha.get, one.get, one.get, out.get, &bytes, &executor));
  RT_CHECK(aclnnElu(workspace(stream, bytes), bytes, executor, stream.get()));
}

void Model::selu(Stream& stream) {
  const Described in(large_), out(right_);
  uint64_t bytes = 0;
  aclOpExecutor* executor = nullptr;
  RT_CHECK(aclnnSeluGetWorkspaceSize(in.get, out.get, &bytes, &executor));
  RT_CHECK(aclnnSelu(workspace(stream, bytes), bytes, executor, stream.get()));
}

void Model::compare(Stream& stream) {
  const Described left(left_), right(right_), out(loss_);
  uint64_t bytes = 0;
  aclOpExecutor* executor = nullptr;
  constexpr int64_t kNoReduction = 0;
  RT_CHECK(aclnnSmoothL1LossGetWorkspaceSize(left.get, right.get, kNoReduction, kBeta, out.get,
                                             &bytes, &executor));
  RT_CHECK(aclnnSmoothL1Loss(workspace(stream, bytes), bytes, executor, stream.get()));
}

}  // namespace rt
