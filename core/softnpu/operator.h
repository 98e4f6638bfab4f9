// SPDX-License-Identifier: Apache-2.0
//
// For the source of an operator of your own, which `softnpu build --operator` compiles: what a
// function that plans is given, and what it returns. The documentation has an example.
#ifndef SOFTNPU_INCLUDE_SOFTNPU_OPERATOR_H_
#define SOFTNPU_INCLUDE_SOFTNPU_OPERATOR_H_

#include "described/elementwise.h"

namespace softnpu {

using described::Arrays;
using described::Given;
using described::Run;

// Fails the call with 161002 unless the condition holds. The rule is an id in lower case; the parts
// of the message are texts, numbers and shapes.
template <class... Parts>
void require(bool condition, const char* rule, const Parts&... parts) {
  described::require(condition, RuleId{rule}, parts...);
}

}  // namespace softnpu

#endif  // SOFTNPU_INCLUDE_SOFTNPU_OPERATOR_H_
