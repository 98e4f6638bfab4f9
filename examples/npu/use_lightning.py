# SPDX-License-Identifier: Apache-2.0
"""Lightning's Trainer on the device, by an accelerator of a few lines: it has none for NPUs."""

import logging
import tempfile

import lightning
import torch
import torch_npu  # noqa: F401
from lightning.pytorch.accelerators import Accelerator
from lightning.pytorch.plugins import MixedPrecision
from lightning.pytorch.strategies import SingleDeviceStrategy
from torch.utils.data import DataLoader, TensorDataset


class Npu(Accelerator):
    """What Lightning asks of a device."""

    def setup_device(self, device: torch.device) -> None:
        torch.npu.set_device(device)

    def teardown(self) -> None:
        torch.npu.empty_cache()

    def get_device_stats(self, device: torch.device) -> dict:
        return torch.npu.memory_stats(device)

    @staticmethod
    def parse_devices(devices: int) -> list[int]:
        return list(range(int(devices)))

    @staticmethod
    def get_parallel_devices(devices: list[int]) -> list[torch.device]:
        return [torch.device("npu", index) for index in devices]

    @staticmethod
    def auto_device_count() -> int:
        return torch.npu.device_count()

    @staticmethod
    def is_available() -> bool:
        return torch.npu.is_available()

    @staticmethod
    def name() -> str:
        return "npu"


class Model(lightning.LightningModule):
    """Two layers."""

    def __init__(self) -> None:
        super().__init__()
        self.net = torch.nn.Sequential(
            torch.nn.Linear(8, 16), torch.nn.ReLU(), torch.nn.Linear(16, 1)
        )
        self.losses: list[float] = []

    def training_step(self, batch: list[torch.Tensor]) -> torch.Tensor:
        x, y = batch
        loss = torch.nn.functional.mse_loss(self.net(x), y)
        self.losses.append(loss.item())
        self.log("loss", loss)
        return loss

    def configure_optimizers(self) -> torch.optim.Optimizer:
        return torch.optim.Adam(self.parameters(), 1e-2)


logging.getLogger("lightning.pytorch").setLevel(logging.ERROR)
lightning.seed_everything(0, verbose=False)
x = torch.randn(64, 8)
batches = DataLoader(TensorDataset(x, x.sum(1, keepdim=True)), batch_size=8)
# Lightning's "bf16-mixed" would ask for CUDA's autocast.
for plugins in (None, MixedPrecision("bf16-mixed", "npu")):
    model = Model()
    with tempfile.TemporaryDirectory() as folder:
        trainer = lightning.Trainer(
            strategy=SingleDeviceStrategy(torch.device("npu", 0), accelerator=Npu()),
            plugins=plugins,
            max_epochs=5,
            default_root_dir=folder,
            logger=False,
            enable_progress_bar=False,
            enable_model_summary=False,
        )
        trainer.fit(model, batches)
    print(trainer.precision, trainer.strategy.root_device, model.losses[-1] < model.losses[0])
