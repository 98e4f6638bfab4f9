# SPDX-License-Identifier: Apache-2.0
"""Models of torchvision, whose operators (nms, roi_align …) are C++ outside of PyTorch."""

import torch
import torch_npu  # noqa: F401
from torchvision.models import resnet18
from torchvision.models.detection import fasterrcnn_mobilenet_v3_large_320_fpn
from torchvision.ops import deform_conv2d, nms, ps_roi_align, roi_align, roi_pool
from torchvision.transforms import v2

torch.manual_seed(0)
device = torch.device("npu")

net = resnet18(num_classes=3).to(device)
optimizer = torch.optim.SGD(net.parameters(), 0.05, momentum=0.9)
x, y = torch.randn(4, 3, 32, 32, device=device), torch.arange(4, device=device) % 3
x = v2.RandomHorizontalFlip()(v2.functional.resize(x, [24, 24]))
losses = []
for _ in range(5):
    loss = torch.nn.functional.cross_entropy(net(x), y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    losses.append(loss.item())
print("resnet18", losses[-1] < losses[0])

boxes = torch.tensor([[0.0, 0, 8, 8], [1, 1, 8, 8], [9, 9, 15, 15]], device=device)
print("nms", nms(boxes, torch.tensor([0.9, 0.8, 0.7]).to(device), 0.5).tolist())
features = torch.randn(1, 4, 16, 16, device=device, requires_grad=True)
for operator in (roi_align, roi_pool, ps_roi_align):
    (grad,) = torch.autograd.grad(operator(features, [boxes], 2).square().sum(), features)
    on_cpu = features.detach().cpu().requires_grad_()
    (same,) = torch.autograd.grad(operator(on_cpu, [boxes.cpu()], 2).square().sum(), on_cpu)
    print(operator.__name__, grad.device, torch.equal(grad.cpu(), same))
offset = torch.zeros(1, 18, 14, 14, device=device)
print(
    "deform_conv2d", deform_conv2d(features, offset, torch.ones(2, 4, 3, 3, device=device)).device
)

detector = fasterrcnn_mobilenet_v3_large_320_fpn(
    weights=None, weights_backbone=None, num_classes=2, min_size=64, max_size=64
).to(device)
images = [torch.rand(3, 64, 64, device=device)]
targets = [{"boxes": boxes[:1] + 4, "labels": torch.ones(1, dtype=torch.long, device=device)}]
loss = sum(detector(images, targets).values())
loss.backward()
print("detector", loss.device, all(p.grad is not None for p in detector.roi_heads.parameters()))
print("boxes", detector.eval()(images)[0]["boxes"].device)
