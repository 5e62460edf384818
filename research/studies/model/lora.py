"""Low-rank adapters of several models over one base model, so that rows of one batch may belong to different models."""

import torch

ALPHA = 32


class Adapters:
    """One adapter for each of `count` models in all linear layers of `base` but the head; trained in float32."""

    def __init__(self, base: torch.nn.Module, count: int, rank: int):
        self.device = base.device
        self.rows: torch.Tensor | int = 0
        self.layers: dict[str, LoraLinear] = {}
        base.requires_grad_(False)
        for name, module in list(base.named_modules()):
            if isinstance(module, torch.nn.Linear) and name != "lm_head":
                self.layers[name] = LoraLinear(module, self, count, rank)
                parent, _, own = name.rpartition(".")
                setattr(base.get_submodule(parent), own, self.layers[name])

    def use(self, rows: list[int]) -> None:
        """Sets the adapter of each row of the batches that follow."""
        distinct = set(rows)
        self.rows = distinct.pop() if len(distinct) == 1 else torch.tensor(rows, device=self.device)

    def of(self, model: int) -> dict[str, torch.Tensor]:
        """The tensors of one model, with their gradients; they share the memory of the layers."""
        tensors = {}
        for name, layer in self.layers.items():
            for kind, every in (("A", layer.a), ("B", layer.b)):
                tensors[f"{name}.lora_{kind}.weight"] = every.data[model]
                tensors[f"{name}.lora_{kind}.weight"].grad = every.grad[model]
        return tensors


class LoraLinear(torch.nn.Module):
    """A linear layer with W x + (ALPHA / rank) B A x (LoRA, equation 3), where A and B are those of the row's model."""

    def __init__(self, base: torch.nn.Linear, adapters: Adapters, count: int, rank: int):
        super().__init__()
        self.base, self.adapters, self.scale = base, adapters, ALPHA / rank
        device = base.weight.device
        self.a = torch.nn.Parameter(torch.zeros(count, rank, base.in_features, device=device))
        self.b = torch.nn.Parameter(torch.zeros(count, base.out_features, rank, device=device))
        for one in (self.a, self.b):
            one.grad = torch.zeros_like(one)

    def forward(self, given: torch.Tensor) -> torch.Tensor:
        rows = self.adapters.rows
        read = given.float() @ self.a[rows].mT
        return (self.base(given) + self.scale * (read @ self.b[rows].mT)).to(given.dtype)


def start(adapter: dict[str, torch.Tensor]) -> None:
    """The same start for every model: A drawn as PEFT does, and B zero, for which the base model is unchanged."""
    torch.manual_seed(0)
    for name, one in adapter.items():
        if ".lora_A." in name:
            torch.nn.init.kaiming_uniform_(one, a=5**0.5)
        else:
            torch.nn.init.zeros_(one)
