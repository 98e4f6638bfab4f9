// SPDX-License-Identifier: Apache-2.0
// A thread that runs the callbacks of the streams that it is subscribed to.
#pragma once

#include <cstdint>

namespace fuzz {

// Its number for aclrtSubscribeReport. From now on it works, until rest_reporter().
uint64_t wake_reporter();
// Returns when it has stopped.
void rest_reporter();

}  // namespace fuzz
