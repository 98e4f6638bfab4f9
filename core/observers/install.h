// SPDX-License-Identifier: Apache-2.0
// Starts the observers.
#pragma once

namespace softnpu::observers {

// Starts the observers that environment variables request.
void start_as_asked();

}  // namespace softnpu::observers
