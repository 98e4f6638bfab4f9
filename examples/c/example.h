// SPDX-License-Identifier: Apache-2.0
//
// What the example programs share: checked calls, a device session, tensors that free themselves.
#ifndef EXAMPLES_C_EXAMPLE_H_
#define EXAMPLES_C_EXAMPLE_H_

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <vector>

#include "acl/acl.h"
#include "aclnn/aclnn_base.h"

// Ends the program when `call` fails, and says which call, with which status, and why.
#define CHECK(call) example::check((call), #call)

namespace example {

inline void check(int status, const char* call) {
  if (status == ACL_SUCCESS) return;
  const char* message = aclGetRecentErrMsg();
  std::fprintf(stderr, "%s\n  failed with status %d: %s\n", call, status,
               message != nullptr ? message : "(no message)");
  std::exit(EXIT_FAILURE);
}

// Holds device 0 and one stream. Declare it first: what lives on the device must go before it does.
class Session {
 public:
  Session() {
    CHECK(aclInit(nullptr));
    CHECK(aclrtSetDevice(0));
    CHECK(aclrtCreateStream(&stream_));
  }
  ~Session() {
    aclrtDestroyStream(stream_);
    aclrtResetDevice(0);
    aclFinalize();
  }
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  aclrtStream stream() const { return stream_; }

 private:
  aclrtStream stream_ = nullptr;
};

// The library's name of a C++ type.
template <class T>
aclDataType type_of();
template <>
inline aclDataType type_of<float>() {
  return ACL_FLOAT;
}
template <>
inline aclDataType type_of<int32_t>() {
  return ACL_INT32;
}
template <>
inline aclDataType type_of<int64_t>() {
  return ACL_INT64;
}

// Device memory that holds `values`, and the contiguous tensor of shape `shape` that describes it.
template <class T>
class Tensor {
 public:
  Tensor(const std::vector<int64_t>& shape, const std::vector<T>& values,
         aclFormat format = ACL_FORMAT_ND)
      : size_(values.size()) {
    CHECK(aclrtMalloc(&data_, bytes(), ACL_MEM_MALLOC_HUGE_FIRST));
    CHECK(aclrtMemcpy(data_, bytes(), values.data(), bytes(), ACL_MEMCPY_HOST_TO_DEVICE));
    // Null strides say that the elements lie one after another, the last axis fastest.
    handle_ = aclCreateTensor(shape.data(), shape.size(), type_of<T>(), nullptr, 0, format,
                              shape.data(), shape.size(), data_);
    check(handle_ != nullptr ? ACL_SUCCESS : ACL_ERROR_FAILURE, "aclCreateTensor");
  }
  ~Tensor() {
    aclDestroyTensor(handle_);
    aclrtFree(data_);
  }
  Tensor(const Tensor&) = delete;
  Tensor& operator=(const Tensor&) = delete;

  aclTensor* get() const { return handle_; }

  std::vector<T> to_host() const {
    std::vector<T> values(size_);
    CHECK(aclrtMemcpy(values.data(), bytes(), data_, bytes(), ACL_MEMCPY_DEVICE_TO_HOST));
    return values;
  }

 private:
  size_t bytes() const { return size_ * sizeof(T); }

  size_t size_;
  void* data_ = nullptr;
  aclTensor* handle_ = nullptr;
};

// The scratch memory that phase one asks for; many operators ask for none.
class Workspace {
 public:
  explicit Workspace(uint64_t size) : size_(size) {
    if (size > 0) CHECK(aclrtMalloc(&data_, size, ACL_MEM_MALLOC_HUGE_FIRST));
  }
  ~Workspace() {
    if (data_ != nullptr) aclrtFree(data_);
  }
  Workspace(const Workspace&) = delete;
  Workspace& operator=(const Workspace&) = delete;

  void* data() const { return data_; }
  uint64_t size() const { return size_; }

 private:
  uint64_t size_;
  void* data_ = nullptr;
};

using Scalar = std::unique_ptr<const aclScalar, aclnnStatus (*)(const aclScalar*)>;
using IntArray = std::unique_ptr<const aclIntArray, aclnnStatus (*)(const aclIntArray*)>;

inline Scalar scalar(float value) {
  return Scalar(aclCreateScalar(&value, ACL_FLOAT), aclDestroyScalar);
}

inline IntArray int_array(const std::vector<int64_t>& values) {
  return IntArray(aclCreateIntArray(values.data(), values.size()), aclDestroyIntArray);
}

}  // namespace example

#endif  // EXAMPLES_C_EXAMPLE_H_
