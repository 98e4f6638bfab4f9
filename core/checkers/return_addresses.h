// SPDX-License-Identifier: Apache-2.0
// The return addresses of this thread's stack, innermost first.
#pragma once

#include <memory>
#include <vector>

namespace softnpu::checkers {

using ReturnAddresses = std::shared_ptr<const std::vector<void*>>;

// `hint` differs between most stacks: where the current call returns to, or null.
ReturnAddresses return_addresses(const void* hint);

}  // namespace softnpu::checkers
