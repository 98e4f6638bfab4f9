// SPDX-License-Identifier: Apache-2.0
// Which of these observers there are.
#pragma once

namespace softnpu::observers {

// Starts what the environment asks for.
void start_as_asked();

}  // namespace softnpu::observers
