// SPDX-License-Identifier: Apache-2.0
// Marks what softnpu's other libraries may use; everything else is hidden.
#pragma once

#define SOFTNPU_EXPORT __attribute__((visibility("default")))
