// SPDX-License-Identifier: Apache-2.0
// The interpreter's verbs that copy, fill and compute.
#pragma once

#include "interpreter.h"

inline int Section::copy(const std::string& verb) {
  if (verb == "copy" || verb == "copyasync") {
    std::byte *const to = place(), *const from = place();
    const auto count = next<size_t>();
    if (verb == "copyasync")
      return aclrtMemcpyAsync(to, count, from, count, ACL_MEMCPY_DEFAULT, stream());
    return aclrtMemcpy(to, count, from, count, ACL_MEMCPY_DEFAULT);
  }
  if (verb == "copy2d" || verb == "copy2dasync") {
    std::byte* const to = place();
    const auto to_pitch = next<size_t>();
    std::byte* const from = place();
    const auto from_pitch = next<size_t>(), width = next<size_t>(), height = next<size_t>();
    if (verb == "copy2dasync")
      return aclrtMemcpy2dAsync(to, to_pitch, from, from_pitch, width, height, ACL_MEMCPY_DEFAULT,
                                stream());
    return aclrtMemcpy2d(to, to_pitch, from, from_pitch, width, height, ACL_MEMCPY_DEFAULT);
  }
  if (verb == "fill" || verb == "fillasync") {
    std::byte* const to = place();
    const auto count = next<size_t>();
    return verb == "fillasync" ? aclrtMemsetAsync(to, count, 1, count, stream())
                               : aclrtMemset(to, count, 1, count);
  }
  if (verb == "print") {
    uint32_t sum = 0;
    std::byte* const from = host(next());
    for (size_t i = 0; i < kHostBytes; ++i) sum = sum * 31 + static_cast<uint32_t>(from[i]);
    printed_ += std::to_string(sum) + "\n";
    return 0;
  }
  return -1;
}

inline aclScalar* one() {
  float value = 1.0f;
  return aclCreateScalar(&value, ACL_FLOAT);
}

inline int Section::compute(const std::string& verb) {
  if (verb == "elu" || verb == "elu-in-place" || verb == "plan") {
    const int workspace = next(), slot = verb == "plan" ? next() : 0;
    const View from = next<View>();
    aclTensor* const self = tensor(from);
    aclTensor* const out = verb == "elu-in-place" ? nullptr : tensor(next<View>());
    aclScalar* const scale = one();
    uint64_t size = 0;
    aclOpExecutor* executor = nullptr;
    int status = out == nullptr
                     ? aclnnInplaceEluGetWorkspaceSize(self, scale, scale, scale, &size, &executor)
                     : aclnnEluGetWorkspaceSize(self, scale, scale, scale, out, &size, &executor);
    if (status == 0 && verb == "plan") {
      status = aclSetAclOpExecutorRepeatable(executor);
      repeated_[slot] = {executor, self, out};
      aclDestroyScalar(scale);
      return status;
    }
    if (status == 0)
      status = (out == nullptr ? aclnnInplaceElu : aclnnElu)(memory_.at(workspace), size, executor,
                                                             stream());
    aclDestroyTensor(self);
    if (out != nullptr) aclDestroyTensor(out);
    aclDestroyScalar(scale);
    return status;
  }
  if (verb == "address") {
    const Repeated& r = repeated_.at(next());
    const int which = next(), slot = next();
    return which == 0 ? aclSetInputTensorAddr(r.executor, 0, r.self, memory_.at(slot))
                      : aclSetOutputTensorAddr(r.executor, 0, r.out, memory_.at(slot));
  }
  if (verb == "launch") {
    const int workspace = next(), slot = next();
    return aclnnElu(memory_.at(workspace), size_.at(workspace), repeated_.at(slot).executor,
                    stream());
  }
  if (verb == "unplan") {
    const Repeated r = repeated_.at(next());
    must(aclDestroyTensor(r.self), verb);
    must(aclDestroyTensor(r.out), verb);
    return aclDestroyAclOpExecutor(r.executor);
  }
  return -1;
}
