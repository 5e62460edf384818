"""Trains an adapter by PEFT, and the same beside two others by the adapters of the studies: same_as_peft.py MODEL. Fails if they differ."""

import sys
from pathlib import Path

import torch
from peft import LoraConfig, get_peft_model
from transformers import AutoModelForCausalLM

sys.path.insert(0, str(Path(__file__).parents[3] / "research/studies/model"))
from lora import ALPHA, Adapters, start  # noqa: E402

RANK, ROWS = 4, 3


def main(folder: str) -> None:
    torch.manual_seed(1)
    tokens = torch.randint(0, 100, (ROWS, 12))
    peft = get_peft_model(
        AutoModelForCausalLM.from_pretrained(folder),
        LoraConfig(r=RANK, lora_alpha=ALPHA, target_modules="all-linear", task_type="CAUSAL_LM"),
    )
    theirs = {
        name.removeprefix("base_model.model.").replace(".default", ""): one for name, one in peft.named_parameters() if one.requires_grad
    }
    base = AutoModelForCausalLM.from_pretrained(folder)
    adapters = Adapters(base, 3, RANK)
    models = [adapters.of(place) for place in range(3)]
    for model in models:
        start(model)
    assert theirs.keys() == models[1].keys()
    with torch.no_grad():
        for name, one in theirs.items():
            one.copy_(models[1][name])

    optimizers = [torch.optim.AdamW(model.values(), lr=1e-2) for model in ({**theirs}, models[1])]
    for _ in range(3):
        expected = peft(input_ids=tokens).logits
        # The second model has every second row; those of the others have the signs of their losses turned.
        adapters.use([1, 0, 1, 2, 1])
        logits = base(input_ids=tokens[[0, 1, 1, 2, 2]]).logits
        torch.testing.assert_close(logits[[0, 2, 4]], expected)
        loss(expected).backward()
        (loss(logits[[0, 2, 4]]) - loss(logits[[1, 3]])).backward()
        for name, one in theirs.items():
            torch.testing.assert_close(models[1][name].grad, one.grad, rtol=1e-4, atol=1e-4)
        for optimizer in optimizers:
            optimizer.step()
            optimizer.zero_grad(set_to_none=False)
    for name, one in theirs.items():
        torch.testing.assert_close(models[1][name], one.data, rtol=1e-4, atol=1e-5)
        if ".lora_B." in name:
            assert (models[0][name] == 0).all(), "another model changed"


def loss(logits: torch.Tensor) -> torch.Tensor:
    return logits.log_softmax(-1)[..., 0].sum()


if __name__ == "__main__":
    main(sys.argv[1])
