// SPDX-License-Identifier: Apache-2.0
//
// The export attribute of operator functions.
#ifndef SOFTNPU_INCLUDE_ACLNNOP_ACLNN_UTIL_H_
#define SOFTNPU_INCLUDE_ACLNNOP_ACLNN_UTIL_H_

#include "../acl/acl_base.h"

#define ACLNN_API ACL_FUNC_VISIBILITY

#endif  // SOFTNPU_INCLUDE_ACLNNOP_ACLNN_UTIL_H_
