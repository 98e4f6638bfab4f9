# SPDX-License-Identifier: Apache-2.0
"""The gradient of elu through the two-phase interface, step by step as a C++ program takes them.

Run it with `softnpu run elu_backward_aclnn.py`, where `import acl` works too, or with Python.
"""

import math
import sys

import numpy as np

from softnpu import acl, aclnn

DEVICE_ID = 0


def check(what, ret):
    """End the program when a runtime function reports a failure."""
    if ret != acl.ACL_SUCCESS:
        sys.exit(f"{what} failed with {ret}: {acl.get_recent_err_msg()}")


def start():
    """Initialise, choose the device, make a stream."""
    check("acl.init", acl.init())
    check("acl.rt.set_device", acl.rt.set_device(DEVICE_ID))
    stream, ret = acl.rt.create_stream()
    check("acl.rt.create_stream", ret)
    return stream


def create_tensor(host, data_type):
    """Copy an array to the device and describe it."""
    address, ret = acl.rt.malloc(host.nbytes, acl.ACL_MEM_MALLOC_HUGE_FIRST)
    check("acl.rt.malloc", ret)
    source = acl.util.numpy_to_ptr(host)
    ret = acl.rt.memcpy(address, host.nbytes, source, host.nbytes, acl.ACL_MEMCPY_HOST_TO_DEVICE)
    check("acl.rt.memcpy", ret)

    # Strides count elements, and those of a contiguous tensor are products of the sizes behind.
    shape = host.shape
    strides = [math.prod(shape[axis + 1 :]) for axis in range(len(shape))]
    tensor = aclnn.aclCreateTensor(
        shape, data_type, strides, 0, aclnn.ACL_FORMAT_ND, shape, address
    )
    return tensor, address


def main():
    """Plan, launch, wait, print."""
    # 1. The device and a stream.
    stream = start()

    # 2. Inputs and output. aclnn functions raise softnpu.AclnnError where C returns a status.
    values = np.array([[-2, -1], [0, 1]], np.float32)
    grad_output, grad_output_address = create_tensor(values, aclnn.ACL_FLOAT)
    alpha = aclnn.aclCreateScalar(1.0, aclnn.ACL_FLOAT)
    scale = aclnn.aclCreateScalar(1.0, aclnn.ACL_FLOAT)
    input_scale = aclnn.aclCreateScalar(1.0, aclnn.ACL_FLOAT)
    is_result = True
    self_or_result, self_or_result_address = create_tensor(values, aclnn.ACL_FLOAT)
    grad_input, grad_input_address = create_tensor(np.zeros_like(values), aclnn.ACL_FLOAT)

    # 3. Phase one checks and plans, phase two launches.
    workspace_size, executor = aclnn.aclnnEluBackwardGetWorkspaceSize(
        grad_output, alpha, scale, input_scale, is_result, self_or_result, grad_input
    )
    workspace = None
    if workspace_size > 0:
        workspace, ret = acl.rt.malloc(workspace_size, acl.ACL_MEM_MALLOC_HUGE_FIRST)
        check("acl.rt.malloc", ret)
    aclnn.aclnnEluBackward(workspace, workspace_size, executor, stream)

    # 4. Wait for the result.
    check("acl.rt.synchronize_stream", acl.rt.synchronize_stream(stream))

    # 5. Copy it back and print it.
    result = np.empty_like(values)
    target = acl.util.numpy_to_ptr(result)
    ret = acl.rt.memcpy(
        target, result.nbytes, grad_input_address, result.nbytes, acl.ACL_MEMCPY_DEVICE_TO_HOST
    )
    check("acl.rt.memcpy", ret)
    for i, value in enumerate(result.ravel()):
        print(f"result[{i}] is: {value:f}")

    # 6. Descriptors, memory, stream, device.
    for tensor in (grad_output, self_or_result, grad_input):
        aclnn.aclDestroyTensor(tensor)
    for scalar in (alpha, scale, input_scale):
        aclnn.aclDestroyScalar(scalar)
    for address in (grad_output_address, self_or_result_address, grad_input_address):
        acl.rt.free(address)
    if workspace is not None:
        acl.rt.free(workspace)
    acl.rt.destroy_stream(stream)
    acl.rt.reset_device(DEVICE_ID)
    acl.finalize()


if __name__ == "__main__":
    main()
