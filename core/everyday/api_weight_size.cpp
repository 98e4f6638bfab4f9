// SPDX-License-Identifier: Apache-2.0
// How much room aclnnTransMatmulWeight needs. It leaves weights as they are.
#include "aclnnop/softnpu_everyday.h"
#include "tensor/entry.h"

using namespace softnpu;

extern "C" aclnnStatus aclnnCalculateMatmulWeightSizeV2(const aclIntArray* shape,
                                                        aclDataType dataType, uint64_t* size) {
  return with_object(CALL(shape, dataType, size), "shape", int_arrays(), shape,
                     [&](const IntArray& sizes) -> Status {
                       std::optional<int64_t> product = 1;
                       for (int64_t each : sizes) {
                         REQUIRE(each >= 0, kParamInvalid, "size-negative"_rule, "shape is ", sizes,
                                 "; expected no negative size");
                         if (product) product = checked_mul(*product, each);
                       }
                       REQUIRE(product, kParamInvalid, "too-many-elements"_rule, "shape is ", sizes,
                               "; the product of its elements does not fit 64 bits");
                       return store("size", size, *product);
                     });
}
