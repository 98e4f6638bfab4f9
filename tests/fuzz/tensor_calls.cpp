// SPDX-License-Identifier: Apache-2.0
#include <iterator>
#include <memory>
#include <vector>

#include "calls.h"

namespace fuzz {
namespace {

// The arguments of a tensor's description, in memory that lives long enough.
struct Description {
  std::vector<int64_t> dims, strides, storage;
  aclDataType type;
  aclFormat format;
  int64_t offset;
  void* data;

  const int64_t* dims_or_null(State& s) const { return s.in.once_in(48) ? nullptr : dims.data(); }
  const int64_t* strides_or_null() const { return strides.empty() ? nullptr : strides.data(); }
};

int64_t dimension(State& s) { return s.in.once_in(16) ? s.in.number() : 1 + s.in.byte() % 4; }

std::vector<int64_t> dimensions(State& s, size_t rank) {
  std::vector<int64_t> dims(rank);
  for (int64_t& each : dims) each = dimension(s);
  return dims;
}

Description describe(State& s) {
  Description d;
  const size_t rank = s.in.once_in(32) ? s.in.below(20) : s.in.below(6);
  d.dims = dimensions(s, rank);
  if (s.in.once_in(4)) d.strides = dimensions(s, rank);
  d.storage = s.in.once_in(4) ? dimensions(s, s.in.below(3)) : d.dims;
  d.type = static_cast<aclDataType>(s.in.enumerator(34));
  d.format = static_cast<aclFormat>(s.in.once_in(4) ? s.in.enumerator(48) : ACL_FORMAT_ND);
  d.offset = s.in.once_in(8) ? s.in.number() : 0;
  d.data = s.in.once_in(3) ? s.pick(kDeviceMemory) : s.room(1);
  return d;
}

// Of a rank that is refused before any dimension is read.
uint64_t rank_of(State& s, const std::vector<int64_t>& dims) {
  static const uint64_t kTooHigh[] = {1025, uint64_t{1} << 32, UINT64_MAX};
  return s.in.once_in(64) ? s.in.one_of(kTooHigh) : dims.size();
}

void create_tensor(State& s) {
  const Description d = describe(s);
  const int64_t* dims = d.dims_or_null(s);
  const uint64_t rank = rank_of(s, d.dims), storage_rank = rank_of(s, d.storage);
  aclTensor* tensor = CALL(aclCreateTensor, dims, rank, d.type, d.strides_or_null(), d.offset,
                           d.format, d.storage.data(), storage_rank, d.data);
  if (tensor != nullptr) s.add(kTensor, {tensor});
}

void init_tensor(State& s) {
  const Description d = describe(s);
  auto* tensor = s.pick_as<aclTensor>(kTensor);
  const int64_t* dims = d.dims_or_null(s);
  const uint64_t rank = rank_of(s, d.dims), storage_rank = rank_of(s, d.storage);
  const int status = CALL(aclInitTensor, tensor, dims, rank, d.type, d.strides_or_null(), d.offset,
                          d.format, d.storage.data(), storage_rank, d.data);
  s.used(kTensor, tensor, status, "aclInitTensor");
}

// Functions that hand out an array made with new[].
#define READ_ARRAY(function)                                                                \
  [](State& s) {                                                                            \
    auto* tensor = s.pick_as<aclTensor>(kTensor);                                           \
    int64_t* values = nullptr;                                                              \
    uint64_t count = 0;                                                                     \
    const int status = CALL(function, tensor, s.out(values), s.out(count));                 \
    s.used(kTensor, tensor, status, #function);                                             \
    expect((status == 0) == (values != nullptr), "an array exactly on success", #function); \
    delete[] values;                                                                        \
  }

void view_offset(State& s) {
  int64_t offset;
  auto* tensor = s.pick_as<aclTensor>(kTensor);
  s.used(kTensor, tensor, CALL(aclGetViewOffset, tensor, s.out(offset)), "aclGetViewOffset");
}
void format(State& s) {
  int32_t number;
  auto* tensor = s.pick_as<aclTensor>(kTensor);
  auto* where = reinterpret_cast<aclFormat*>(s.out(number));
  s.used(kTensor, tensor, CALL(aclGetFormat, tensor, where), "aclGetFormat");
}
void data_type(State& s) {
  int32_t number;
  auto* tensor = s.pick_as<aclTensor>(kTensor);
  auto* where = reinterpret_cast<aclDataType*>(s.out(number));
  s.used(kTensor, tensor, CALL(aclGetDataType, tensor, where), "aclGetDataType");
}
void set_address(State& s) {
  auto* tensor = s.pick_as<aclTensor>(kTensor);
  void* address = s.pick(kDeviceMemory);
  s.used(kTensor, tensor, CALL(aclSetRawTensorAddr, tensor, address), "aclSetRawTensorAddr");
}
void get_address(State& s) {
  void* address;
  auto* tensor = s.pick_as<aclTensor>(kTensor);
  s.used(kTensor, tensor, CALL(aclGetRawTensorAddr, tensor, s.out(address)), "aclGetRawTensorAddr");
}

constexpr Call kCalls[] = {
    {"aclCreateTensor", create_tensor},
    {"aclInitTensor", init_tensor},
    {"aclDestroyTensor", destroy_one<kTensor>},
    {"aclGetViewShape", READ_ARRAY(aclGetViewShape)},
    {"aclGetStorageShape", READ_ARRAY(aclGetStorageShape)},
    {"aclGetViewStrides", READ_ARRAY(aclGetViewStrides)},
    {"aclGetViewOffset", view_offset},
    {"aclGetFormat", format},
    {"aclGetDataType", data_type},
    {"aclSetRawTensorAddr", set_address},
    {"aclGetRawTensorAddr", get_address},
};

}  // namespace

Room tensor_calls() { return {kCalls, std::size(kCalls)}; }

void make_tensor(State& s) {
  const int64_t dims[] = {1, 1, 2, 2, 2};
  aclTensor* tensor =
      CALL(aclCreateTensor, dims, 5, ACL_FLOAT, nullptr, 0, ACL_FORMAT_NCDHW, dims, 5, s.room(32));
  if (tensor != nullptr) s.add(kTensor, {tensor});
}

}  // namespace fuzz
