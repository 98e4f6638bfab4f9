// SPDX-License-Identifier: Apache-2.0
// Every function of libnnopbase and libopapi without memory, at each place where it allocates.
#include "aclnn/aclnn_base.h"
#include "aclnnop/aclnn_elu.h"
#include "aclnnop/aclnn_elu_backward.h"
#include "aclnnop/aclnn_max_unpool3d.h"
#include "aclnnop/aclnn_max_unpool3d_backward.h"
#include "aclnnop/aclnn_selu.h"
#include "aclnnop/aclnn_selu_backward.h"
#include "aclnnop/aclnn_smooth_l1_loss.h"
#include "aclnnop/aclnn_smooth_l1_loss_backward.h"
#include "aclnnop/aclnn_upsample_nearest_3d.h"
#include "aclnnop/aclnn_upsample_nearest_3d_backward.h"
#include "failing_allocations.h"

namespace {

using no_memory::at_every_site;
using no_memory::nothing;

#define CODES {561103}
#define NO_HANDLE {-1}

// A function that makes something, and the one that destroys it.
template <class T, class Create, class Destroy>
void maker(const char* create_name, const Create& create, const char* destroy_name,
           const Destroy& destroy) {
  T* made = nullptr;
  at_every_site(
      create_name, NO_HANDLE, nothing, [&] { return (made = create()) == nullptr ? -1 : 0; },
      [&] { EXPECT_OK(destroy(made)); });
  made = nullptr;
  at_every_site(
      destroy_name, CODES,
      [&] {
        if (made == nullptr) made = create();
      },
      [&] { return destroy(made); }, [&] { made = nullptr; });
  EXPECT_OK(destroy(made = create()));
}

const int64_t kShape[] = {1, 1, 2, 2, 2};

aclTensor* tensor_at(void* address, aclDataType type = ACL_FLOAT) {
  return aclCreateTensor(kShape, 5, type, nullptr, 0, ACL_FORMAT_NCDHW, kShape, 5, address);
}

void arrays() {
  float one = 1;
  const int64_t ints[] = {2, 2, 2};
  const float floats[] = {1, 2};
  const bool bools[] = {true, false};
  maker<aclScalar>(
      "aclCreateScalar", [&] { return aclCreateScalar(&one, ACL_FLOAT); }, "aclDestroyScalar",
      aclDestroyScalar);
  maker<aclIntArray>(
      "aclCreateIntArray", [&] { return aclCreateIntArray(ints, 3); }, "aclDestroyIntArray",
      aclDestroyIntArray);
  maker<aclFloatArray>(
      "aclCreateFloatArray", [&] { return aclCreateFloatArray(floats, 2); }, "aclDestroyFloatArray",
      aclDestroyFloatArray);
  maker<aclBoolArray>(
      "aclCreateBoolArray", [&] { return aclCreateBoolArray(bools, 2); }, "aclDestroyBoolArray",
      aclDestroyBoolArray);
  uint64_t size;
  aclIntArray* a = aclCreateIntArray(ints, 3);
  aclFloatArray* b = aclCreateFloatArray(floats, 2);
  aclBoolArray* c = aclCreateBoolArray(bools, 2);
  AT_EVERY_SITE(CODES, aclGetIntArraySize, a, &size);
  AT_EVERY_SITE(CODES, aclGetFloatArraySize, b, &size);
  AT_EVERY_SITE(CODES, aclGetBoolArraySize, c, &size);
  EXPECT_OK(aclDestroyIntArray(a));
  EXPECT_OK(aclDestroyFloatArray(b));
  EXPECT_OK(aclDestroyBoolArray(c));
}

// Lists, whose members end with them: each has new ones, made outside the call under test.
template <class T, class Member, class Create, class Destroy, class Size>
void list_maker(const char* create_name, const Create& create, const char* destroy_name,
                const Destroy& destroy, const Member& member, const Size& size_of) {
  auto* one = member();
  T* list = nullptr;
  const auto renew = [&] {
    if (list != nullptr) return;
    if (one == nullptr) one = member();
  };
  at_every_site(
      create_name, NO_HANDLE, renew, [&] { return (list = create(one)) == nullptr ? -1 : 0; },
      [&] {
        EXPECT_OK(destroy(list));
        one = nullptr, list = nullptr;
      });
  const auto make = [&] {
    renew();
    if (list == nullptr) list = create(one);
  };
  make();
  size_of(list);
  at_every_site(
      destroy_name, CODES, make, [&] { return destroy(list); },
      [&] { one = nullptr, list = nullptr; });
  make();
  EXPECT_OK(destroy(list));
}

void lists() {
  float number = 1;
  uint64_t size;
  list_maker<aclTensorList>(
      "aclCreateTensorList",
      [](const aclTensor* one) {
        const aclTensor* members[] = {one, nullptr};
        return aclCreateTensorList(members, 2);
      },
      "aclDestroyTensorList", aclDestroyTensorList, [] { return tensor_at(nullptr); },
      [&](const aclTensorList* list) { AT_EVERY_SITE(CODES, aclGetTensorListSize, list, &size); });
  list_maker<aclScalarList>(
      "aclCreateScalarList",
      [](const aclScalar* one) {
        const aclScalar* members[] = {one, nullptr};
        return aclCreateScalarList(members, 2);
      },
      "aclDestroyScalarList", aclDestroyScalarList,
      [&] { return aclCreateScalar(&number, ACL_FLOAT); },
      [&](const aclScalarList* list) { AT_EVERY_SITE(CODES, aclGetScalarListSize, list, &size); });
}

void tensors() {
  const Buffer buffer(64);
  void* const address = buffer.address;
  maker<aclTensor>(
      "aclCreateTensor", [=] { return tensor_at(address); }, "aclDestroyTensor", aclDestroyTensor);
  aclTensor* tensor = tensor_at(address);
  int64_t *values = nullptr, offset;
  uint64_t count;
  aclFormat format;
  aclDataType type;
  void* found;
  const auto release = [&] { delete[] values; };
  at_every_site(
      "aclGetViewShape", CODES, nothing, [&] { return aclGetViewShape(tensor, &values, &count); },
      release);
  at_every_site(
      "aclGetStorageShape", CODES, nothing,
      [&] { return aclGetStorageShape(tensor, &values, &count); }, release);
  at_every_site(
      "aclGetViewStrides", CODES, nothing,
      [&] { return aclGetViewStrides(tensor, &values, &count); }, release);
  AT_EVERY_SITE(CODES, aclGetViewOffset, tensor, &offset);
  AT_EVERY_SITE(CODES, aclGetFormat, tensor, &format);
  AT_EVERY_SITE(CODES, aclGetDataType, tensor, &type);
  AT_EVERY_SITE(CODES, aclGetRawTensorAddr, tensor, &found);
  AT_EVERY_SITE(CODES, aclSetRawTensorAddr, tensor, address);
  AT_EVERY_SITE(CODES, aclInitTensor, tensor, kShape, 5, ACL_FLOAT, nullptr, 0, ACL_FORMAT_NCDHW,
                kShape, 5, address);
  EXPECT_OK(aclDestroyTensor(tensor));
}

// Operands that fit every operator.
struct Operands {
  Buffer memory[4] = {Buffer(64), Buffer(64), Buffer(64), Buffer(64)};
  aclTensor *a, *b, *indices, *out, *mean;
  aclScalar* one;
  aclIntArray *twos, *ones, *whole;

  Operands() {
    const int64_t sizes[] = {2, 2, 2}, steps[] = {1, 1, 1};
    float number = 1;
    EXPECT_OK(aclrtMemset(memory[2].address, 64, 0, 64));
    a = tensor_at(memory[0].address), b = tensor_at(memory[1].address);
    indices = tensor_at(memory[2].address, ACL_INT64), out = tensor_at(memory[3].address);
    mean = aclCreateTensor(steps, 1, ACL_FLOAT, nullptr, 0, ACL_FORMAT_ND, steps, 1,
                           memory[3].address);
    one = aclCreateScalar(&number, ACL_FLOAT);
    twos = aclCreateIntArray(sizes, 3), ones = aclCreateIntArray(steps, 3);
    whole = aclCreateIntArray(kShape, 5);
  }
  ~Operands() {
    for (aclTensor* each : {a, b, indices, out, mean}) EXPECT_OK(aclDestroyTensor(each));
    EXPECT_OK(aclDestroyScalar(one));
    for (aclIntArray* each : {twos, ones, whole}) EXPECT_OK(aclDestroyIntArray(each));
  }
};

constexpr size_t kMostWorkspace = size_t{1} << 20;

using Launch = aclnnStatus (*)(void*, uint64_t, aclOpExecutor*, aclrtStream);

template <class Plan>
void both_phases(const char* name, const Plan& plan, Launch launch) {
  const Buffer workspace(kMostWorkspace);
  uint64_t size = 0;
  aclOpExecutor* executor = nullptr;
  const std::string phase_one = std::string(name) + "GetWorkspaceSize";
  at_every_site(
      phase_one.c_str(), CODES, nothing, [&] { return plan(&size, &executor); },
      [&] {
        EXPECT_OK(aclDestroyAclOpExecutor(executor));
        executor = nullptr;
      });
  const auto planned = [&] {
    if (executor == nullptr) EXPECT_OK(plan(&size, &executor));
    EXPECT(size <= kMostWorkspace);
  };
  at_every_site(
      name, CODES, planned, [&] { return launch(workspace.address, size, executor, nullptr); },
      [&] {
        EXPECT_OK(aclrtSynchronizeStream(nullptr));
        executor = nullptr;
      });
  if (executor != nullptr) EXPECT_OK(aclDestroyAclOpExecutor(executor));
}

#define BOTH_PHASES(name, ...) \
  both_phases(#name, [&](auto... end) { return name##GetWorkspaceSize(__VA_ARGS__, end...); }, name)

void operators() {
  const Operands in;
  aclTensor *const a = in.a, *const b = in.b, *const out = in.out;
  aclScalar* const one = in.one;
  BOTH_PHASES(aclnnElu, a, one, one, one, out);
  BOTH_PHASES(aclnnInplaceElu, a, one, one, one);
  BOTH_PHASES(aclnnEluBackward, a, one, one, one, false, b, out);
  BOTH_PHASES(aclnnSelu, a, out);
  BOTH_PHASES(aclnnInplaceSelu, a);
  BOTH_PHASES(aclnnSeluBackward, a, b, out);
  BOTH_PHASES(aclnnSmoothL1Loss, a, b, 1, 1.0f, in.mean);
  BOTH_PHASES(aclnnSmoothL1LossBackward, a, b, a, 0, 1.0f, out);
  BOTH_PHASES(aclnnUpsampleNearest3d, a, in.twos, 0, 0, 0, out);
  BOTH_PHASES(aclnnUpsampleNearest3dBackward, a, in.twos, in.whole, 0, 0, 0, out);
  BOTH_PHASES(aclnnMaxUnpool3d, a, in.indices, in.twos, in.ones, in.ones, out);
  BOTH_PHASES(aclnnMaxUnpool3dBackward, a, b, in.indices, in.twos, in.ones, in.ones, out);
}

void executors() {
  const Operands in;
  uint64_t size;
  aclOpExecutor* executor = nullptr;
  const auto plan = [&] {
    if (executor == nullptr) EXPECT_OK(aclnnSeluGetWorkspaceSize(in.a, in.out, &size, &executor));
  };
  at_every_site(
      "aclDestroyAclOpExecutor", CODES, plan, [&] { return aclDestroyAclOpExecutor(executor); },
      [&] { executor = nullptr; });
  plan();
  void *const from = in.memory[1].address, *const to = in.memory[3].address;
  AT_EVERY_SITE(CODES, aclSetAclOpExecutorRepeatable, executor);
  AT_EVERY_SITE(CODES, AclSetAclOpExecutorRepeatable, executor);
  AT_EVERY_SITE(CODES, aclSetInputTensorAddr, executor, 0, in.a, from);
  AT_EVERY_SITE(CODES, AclSetInputTensorAddr, executor, 0, in.a, from);
  AT_EVERY_SITE(CODES, aclSetOutputTensorAddr, executor, 0, in.out, to);
  AT_EVERY_SITE(CODES, AclSetOutputTensorAddr, executor, 0, in.out, to);
  AT_EVERY_SITE(CODES, aclSetTensorAddr, executor, 1, in.out, to);
  AT_EVERY_SITE(CODES, AclSetTensorAddr, executor, 1, in.out, to);
  // A failure leaves the old address, and not one that nobody has checked.
  for (long site = 0; site < 20; ++site) {
    allocations_left = site;
    EXPECT(aclSetTensorAddr(executor, 1, in.out, &size) != 0);
    allocations_left = -1;
    EXPECT_OK(aclnnSelu(nullptr, 0, executor, nullptr));
  }
  EXPECT_OK(aclDestroyAclOpExecutor(executor));
  AT_EVERY_SITE(CODES, aclnnInit, nullptr);
  AT_EVERY_SITE(CODES, aclnnFinalize);
}

void everything() {
  arrays();
  lists();
  tensors();
  executors();
  operators();
}

}  // namespace

int main() {
  EXPECT_OK(aclInit(nullptr));
  EXPECT_OK(aclrtSetDevice(0));
  no_memory::twice(everything);
  EXPECT_OK(aclFinalize());
  return no_memory::report();
}
