// SPDX-License-Identifier: Apache-2.0
// Runs operators for a process on another machine: reads calls from stdin and writes what became of
// them to stdout, until stdin ends. Numbers are little-endian, without padding.
//
// A call is the operator's name, its buffers, then its arguments in the order of phase one. The
// answer is a status and a message, then, where the status is 0, every buffer as the call left it.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <tuple>
#include <type_traits>
#include <vector>

#include "acl/acl.h"
#include "operator_list.h"

namespace {

aclrtStream stream = nullptr;

[[noreturn]] void give_up(const char* what) {
  std::fprintf(stderr, "serve: %s\n", what);
  std::exit(EXIT_FAILURE);
}

void check(int status, const char* what) {
  if (status != ACL_SUCCESS) give_up(what);
}
#define CHECK(call) check((call), #call)

void read_bytes(void* to, size_t count) {
  if (count > 0 && std::fread(to, count, 1, stdin) != 1) give_up("stdin ended within a call");
}
void write_bytes(const void* from, size_t count) {
  if (count > 0 && std::fwrite(from, count, 1, stdout) != 1) give_up("cannot write to stdout");
}

template <class T>
T read() {
  T value;
  read_bytes(&value, sizeof value);
  return value;
}
template <class T>
std::vector<T> read_list() {
  std::vector<T> values(read<uint32_t>());
  read_bytes(values.data(), values.size() * sizeof(T));
  return values;
}

// Device memory that holds what the caller's buffer holds.
struct Buffer {
  std::vector<std::byte> bytes;
  void* device = nullptr;

  Buffer() {
    bytes.resize(read<uint64_t>());
    read_bytes(bytes.data(), bytes.size());
    CHECK(aclrtMalloc(&device, bytes.size() + 1, ACL_MEM_MALLOC_HUGE_FIRST));
    copy(device, bytes.data(), ACL_MEMCPY_HOST_TO_DEVICE);
  }
  ~Buffer() { aclrtFree(device); }
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;

  void answer() {
    copy(bytes.data(), device, ACL_MEMCPY_DEVICE_TO_HOST);
    write_bytes(bytes.data(), bytes.size());
  }

 private:
  void copy(void* to, const void* from, aclrtMemcpyKind kind) const {
    if (!bytes.empty()) CHECK(aclrtMemcpy(to, bytes.size(), from, bytes.size(), kind));
  }
};

class Call {
 public:
  Call() : count_(read<uint32_t>()), buffers_(new Buffer[count_]) {}
  ~Call() {
    for (const aclTensor* tensor : tensors_) aclDestroyTensor(tensor);
    for (const aclScalar* scalar : scalars_) aclDestroyScalar(scalar);
    for (const aclIntArray* array : arrays_) aclDestroyIntArray(array);
    aclrtFree(workspace_);
    delete[] buffers_;
  }
  Call(const Call&) = delete;
  Call& operator=(const Call&) = delete;

  // Both phases and the synchronisation; phase one's parameters say what to read.
  template <class... A>
  aclnnStatus run(aclnnStatus (*phase_one)(A...),
                  aclnnStatus (*phase_two)(void*, uint64_t, aclOpExecutor*, aclrtStream)) {
    const std::tuple<A...> arguments{take<A>()...};
    aclnnStatus status = std::apply(phase_one, arguments);
    if (status != ACL_SUCCESS) return status;
    if (size_ > 0) CHECK(aclrtMalloc(&workspace_, size_, ACL_MEM_MALLOC_HUGE_FIRST));
    status = phase_two(workspace_, size_, executor_, stream);
    return status != ACL_SUCCESS ? status : aclrtSynchronizeStream(stream);
  }

  void answer() const {
    for (uint32_t i = 0; i < count_; ++i) buffers_[i].answer();
  }

 private:
  template <class T>
  T take() {
    if constexpr (std::is_same_v<T, uint64_t*>) {
      return &size_;
    } else if constexpr (std::is_same_v<T, aclOpExecutor**>) {
      return &executor_;
    } else if constexpr (std::is_same_v<T, const aclTensor*> || std::is_same_v<T, aclTensor*>) {
      return tensor();
    } else if constexpr (std::is_same_v<T, const aclScalar*>) {
      float value = read<float>();
      scalars_.push_back(aclCreateScalar(&value, ACL_FLOAT));
      return scalars_.back();
    } else if constexpr (std::is_same_v<T, const aclIntArray*>) {
      const std::vector<int64_t> values = read_list<int64_t>();
      arrays_.push_back(aclCreateIntArray(values.data(), values.size()));
      return arrays_.back();
    } else {
      static_assert(std::is_arithmetic_v<T>);
      return read<T>();
    }
  }

  aclTensor* tensor() {
    const auto buffer = read<uint32_t>();
    const auto type = static_cast<aclDataType>(read<int32_t>());
    const auto format = static_cast<aclFormat>(read<int32_t>());
    const auto offset = read<int64_t>(), storage = read<int64_t>();
    const std::vector<int64_t> sizes = read_list<int64_t>(), strides = read_list<int64_t>();
    if (buffer >= count_) give_up("no such buffer");
    aclTensor* const tensor = aclCreateTensor(sizes.data(), sizes.size(), type, strides.data(),
                                              offset, format, &storage, 1, buffers_[buffer].device);
    if (tensor == nullptr) give_up(aclGetRecentErrMsg());
    tensors_.push_back(tensor);
    return tensor;
  }

  uint32_t count_;
  Buffer* buffers_;
  std::vector<aclTensor*> tensors_;
  std::vector<aclScalar*> scalars_;
  std::vector<aclIntArray*> arrays_;
  uint64_t size_ = 0;
  aclOpExecutor* executor_ = nullptr;
  void* workspace_ = nullptr;
};

aclnnStatus run(const std::string& name, Call& call) {
#define OPERATOR(operator, ...) \
  if (name == #operator) return call.run(operator##GetWorkspaceSize, operator);
  OPERATORS
#undef OPERATOR
  give_up("no such operator");
}

void serve_one(uint32_t name_length) {
  std::string name(name_length, '\0');
  read_bytes(name.data(), name.size());
  Call call;
  const int32_t status = run(name, call);
  const char* const error = status != ACL_SUCCESS ? aclGetRecentErrMsg() : nullptr;
  const std::string message = error != nullptr ? error : "";
  const auto length = static_cast<uint32_t>(message.size());
  write_bytes(&status, sizeof status);
  write_bytes(&length, sizeof length);
  write_bytes(message.data(), length);
  if (status == ACL_SUCCESS) call.answer();
  std::fflush(stdout);
}

}  // namespace

int main() {
  CHECK(aclInit(nullptr));
  CHECK(aclrtSetDevice(0));
  CHECK(aclrtCreateStream(&stream));
  for (uint32_t name_length; std::fread(&name_length, sizeof name_length, 1, stdin) == 1;)
    serve_one(name_length);
  CHECK(aclrtDestroyStream(stream));
  CHECK(aclFinalize());
}
