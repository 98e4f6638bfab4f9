// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "calls.h"

namespace fuzz {

const std::vector<Call>& all_calls();
// From now on half of all calls are of everyday operators.
void prefer_everyday();

}  // namespace fuzz

// libFuzzer's names.
extern "C" int LLVMFuzzerInitialize(int* argc, char*** argv);
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);
