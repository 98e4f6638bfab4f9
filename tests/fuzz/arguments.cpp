// SPDX-License-Identifier: Apache-2.0
#include "calls.h"
#include "operators.h"

namespace fuzz {
namespace {

int64_t count_of(const Dims& dims) {
  int64_t count = 1;
  for (int64_t each : dims) count *= each;
  return count;
}

// Dense in the order of the dimensions, or in the reverse order.
Dims strides_of(const Dims& dims, int64_t step, bool reversed) {
  Dims strides(dims.size());
  for (size_t i = 0; i < dims.size(); ++i) {
    const size_t at = reversed ? i : dims.size() - 1 - i;
    strides[at] = step;
    step *= dims[at] > 0 ? dims[at] : 1;
  }
  return strides;
}

}  // namespace

Arguments::Arguments(State& state)
    : s(state),
      size_out_(s.in.once_in(64) ? nullptr : &size_),
      executor_out_(s.in.once_in(64) ? nullptr : &executor_) {}

aclTensor* Arguments::keep(aclTensor* tensor) {
  tensors_.push_back(tensor);
  return tensor;
}

aclTensor* Arguments::tensor(const Dims& dims, aclDataType type) {
  if (s.in.once_in(24)) return keep(s.pick_as<aclTensor>(kTensor));
  const bool is_strided = s.in.once_in(6);
  const int64_t step = is_strided ? 1 + static_cast<int64_t>(s.in.below(2)) : 1;
  const Dims strides = strides_of(dims, step, is_strided && s.in.once_in(2));
  const int64_t elements = count_of(dims) * step;
  void* data = s.room(static_cast<size_t>(elements) * 8 + 1);
  aclTensor* made =
      CALL(aclCreateTensor, dims.data(), dims.size(), type, is_strided ? strides.data() : nullptr,
           0, ACL_FORMAT_ND, &elements, 1, data);
  if (made != nullptr) s.add(kTensor, {made});
  return keep(made);
}

aclTensorList* Arguments::tensors(size_t count, const Dims& dims, aclDataType type) {
  if (s.in.once_in(24)) return s.pick_as<aclTensorList>(kTensorList);
  std::vector<aclTensor*> members;
  while (members.size() < count) members.push_back(tensor(dims, type));
  aclTensorList* made = CALL(aclCreateTensorList, members.data(), count);
  if (made != nullptr) s.add(kTensorList, {made, true, 0, {members.begin(), members.end()}});
  return made;
}

aclScalar* Arguments::scalar() {
  if (s.in.once_in(3)) return s.pick_as<aclScalar>(kScalar);
  float value = static_cast<float>(s.in.byte()) / 16;
  aclScalar* made = CALL(aclCreateScalar, &value, ACL_FLOAT);
  if (made != nullptr) s.add(kScalar, {made});
  scalars_.push_back(made);
  return made;
}

aclIntArray* Arguments::ints(const Dims& values) {
  if (s.in.once_in(24)) return s.pick_as<aclIntArray>(kIntArray);
  aclIntArray* made = CALL(aclCreateIntArray, values.data(), values.size());
  if (made != nullptr) s.add(kIntArray, {made});
  arrays_.push_back(made);
  return made;
}

aclDataType Arguments::floating() {
  static const aclDataType kTypes[] = {ACL_FLOAT, ACL_FLOAT16, ACL_BF16, ACL_DOUBLE};
  if (s.in.once_in(16)) return static_cast<aclDataType>(s.in.enumerator(34));
  return s.in.once_in(4) ? s.in.one_of(kTypes) : ACL_FLOAT;
}

void Arguments::planned(const Operator& op, int status) {
  const bool wrote = size_ != kNoSize && executor_ != nullptr;
  expect((status == 0) == wrote, "results exactly on success", op.name, status);
  if (status == 0) s.add(kExecutor, {executor_, true, size_, tensors_, &op});
  if (s.in.once_in(2)) return;
  for (void* each : tensors_)
    if (s.find(kTensor, each) != nullptr) destroy_thing(s, kTensor, each);
  for (void* each : scalars_) destroy_thing(s, kScalar, each);
  for (void* each : arrays_) destroy_thing(s, kIntArray, each);
}

}  // namespace fuzz
