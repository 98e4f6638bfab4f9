// SPDX-License-Identifier: Apache-2.0
// Scalars, arrays and lists.
#include <iterator>

#include "calls.h"

namespace fuzz {
namespace {

constexpr size_t kMost = 8;

// As many as there are values for, or so many that they are refused before any is read.
uint64_t size_of(State& s) {
  static const uint64_t kTooMany[] = {(uint64_t{1} << 32) + 1, uint64_t{1} << 61, UINT64_MAX};
  if (s.in.once_in(24)) return s.in.one_of(kTooMany);
  return s.in.once_in(4) ? s.in.below(kMost + 1) : 3;
}

template <class T>
void add(State& s, Kind kind, T* thing, std::vector<void*> members = {}) {
  if (thing != nullptr) s.add(kind, {thing, true, 0, std::move(members)});
}

void create_scalar(State& s) {
  uint8_t value[16];
  for (uint8_t& each : value) each = s.in.byte();
  void* where = s.in.once_in(24) ? nullptr : value;
  add(s, kScalar, CALL(aclCreateScalar, where, static_cast<aclDataType>(s.in.enumerator(34))));
}

void create_int_array(State& s) {
  int64_t values[kMost];
  for (int64_t& each : values) each = s.in.number();
  add(s, kIntArray, CALL(aclCreateIntArray, s.in.once_in(24) ? nullptr : values, size_of(s)));
}
void create_float_array(State& s) {
  float values[kMost];
  for (float& each : values) each = s.in.bits<float>();
  add(s, kFloatArray, CALL(aclCreateFloatArray, s.in.once_in(24) ? nullptr : values, size_of(s)));
}
void create_bool_array(State& s) {
  bool values[kMost];
  for (bool& each : values) each = s.in.once_in(2);
  add(s, kBoolArray, CALL(aclCreateBoolArray, s.in.once_in(24) ? nullptr : values, size_of(s)));
}

template <class T>
std::vector<T*> members_of(State& s, Kind kind) {
  std::vector<T*> members;
  for (size_t i = 0; i < kMost; ++i)
    members.push_back(s.in.once_in(3) ? s.pick_as<T>(kind) : nullptr);
  return members;
}
template <class T>
std::vector<void*> up_to(const std::vector<T*>& members, uint64_t size) {
  return {members.begin(), members.begin() + static_cast<ptrdiff_t>(size < kMost ? size : kMost)};
}

void create_tensor_list(State& s) {
  const auto members = members_of<aclTensor>(s, kTensor);
  const uint64_t size = size_of(s);
  add(s, kTensorList, CALL(aclCreateTensorList, members.data(), size), up_to(members, size));
}
void create_scalar_list(State& s) {
  const auto members = members_of<aclScalar>(s, kScalar);
  const uint64_t size = size_of(s);
  add(s, kScalarList, CALL(aclCreateScalarList, members.data(), size), up_to(members, size));
}

// Reads the size of an array or a list.
#define READ_SIZE(function, type, kind)                                \
  [](State& s) {                                                       \
    auto* array = s.pick_as<type>(kind);                               \
    uint64_t size;                                                     \
    s.used(kind, array, CALL(function, array, s.out(size)), "a size"); \
  }

constexpr Call kCalls[] = {
    {"aclCreateScalar", create_scalar},
    {"aclDestroyScalar", destroy_one<kScalar>},
    {"aclCreateIntArray", create_int_array},
    {"aclDestroyIntArray", destroy_one<kIntArray>},
    {"aclGetIntArraySize", READ_SIZE(aclGetIntArraySize, aclIntArray, kIntArray)},
    {"aclCreateFloatArray", create_float_array},
    {"aclDestroyFloatArray", destroy_one<kFloatArray>},
    {"aclGetFloatArraySize", READ_SIZE(aclGetFloatArraySize, aclFloatArray, kFloatArray)},
    {"aclCreateBoolArray", create_bool_array},
    {"aclDestroyBoolArray", destroy_one<kBoolArray>},
    {"aclGetBoolArraySize", READ_SIZE(aclGetBoolArraySize, aclBoolArray, kBoolArray)},
    {"aclCreateTensorList", create_tensor_list},
    {"aclDestroyTensorList", destroy_one<kTensorList>},
    {"aclGetTensorListSize", READ_SIZE(aclGetTensorListSize, aclTensorList, kTensorList)},
    {"aclCreateScalarList", create_scalar_list},
    {"aclDestroyScalarList", destroy_one<kScalarList>},
    {"aclGetScalarListSize", READ_SIZE(aclGetScalarListSize, aclScalarList, kScalarList)},
};

}  // namespace

Room array_calls() { return {kCalls, std::size(kCalls)}; }

void make_scalar(State& s) {
  float one = 1;
  add(s, kScalar, CALL(aclCreateScalar, &one, ACL_FLOAT));
}
void make_int_array(State& s) {
  const int64_t values[] = {2, 2, 2};
  add(s, kIntArray, CALL(aclCreateIntArray, values, 3));
}
void make_float_array(State& s) { add(s, kFloatArray, CALL(aclCreateFloatArray, nullptr, 0)); }
void make_bool_array(State& s) { add(s, kBoolArray, CALL(aclCreateBoolArray, nullptr, 0)); }
void make_tensor_list(State& s) {
  const aclTensor* members[] = {s.pick_as<aclTensor>(kTensor)};
  add(s, kTensorList, CALL(aclCreateTensorList, members, 1), {const_cast<aclTensor*>(members[0])});
}
void make_scalar_list(State& s) {
  const aclScalar* members[] = {s.pick_as<aclScalar>(kScalar)};
  add(s, kScalarList, CALL(aclCreateScalarList, members, 1), {const_cast<aclScalar*>(members[0])});
}

}  // namespace fuzz
