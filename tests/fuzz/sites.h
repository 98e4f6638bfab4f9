// SPDX-License-Identifier: Apache-2.0
// Every function with each of its allocations failing.
#pragma once

namespace fuzz {

// Prints how many allocations of each function failed. Each fails alone, and with all later ones of
// the call: the call says so with a documented code or succeeds, and leaves nothing behind.
void fail_at_every_site();

}  // namespace fuzz
