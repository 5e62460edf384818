"""Recipes of tinker-cookbook against `inspo engine serve`, each of them resumed on a server that was restarted in between.

Takes URL, base model, which is also the folder of its tokenizer, and a folder to work in. Prints "restart" and waits for a
line when the server is to be restarted."""

import asyncio
import json
import sys
from pathlib import Path

from tinker_cookbook.recipes.math_rl.arithmetic_env import ArithmeticDatasetBuilder
from tinker_cookbook.renderers import TrainOnWhat
from tinker_cookbook.rl import train as rl
from tinker_cookbook.supervised import train as supervised
from tinker_cookbook.supervised.data import FromConversationFileBuilder
from tinker_cookbook.supervised.types import ChatDatasetBuilderCommonConfig

url, model, folder = sys.argv[1:]
conversations = Path(folder, "conversations.jsonl")
conversations.write_text(
    "".join(
        json.dumps({"messages": [{"role": "user", "content": f"{n}?"}, {"role": "assistant", "content": f"{n}!"}]}) + "\n"
        for n in range(16)
    )
)
# The cookbook does not know the folder as a model, so the renderer is named; its stop is a text of several tokens.
common = dict(base_url=url, model_name=model, lora_rank=8, learning_rate=1e-3, save_every=1, eval_every=0)


def learn(steps):
    dataset = FromConversationFileBuilder(
        common_config=ChatDatasetBuilderCommonConfig(
            model_name_for_tokenizer=model,
            renderer_name="role_colon",
            max_length=128,
            batch_size=4,
            train_on_what=TrainOnWhat.ALL_ASSISTANT_MESSAGES,
        ),
        file_path=str(conversations),
    )
    config = supervised.Config(
        **common,
        recipe_name="supervised",
        renderer_name="role_colon",
        log_path=f"{folder}/supervised",
        dataset_builder=dataset,
        max_steps=steps,
    )
    asyncio.run(supervised.main(config))


def reinforce(steps):
    dataset = ArithmeticDatasetBuilder(
        batch_size=2,
        group_size=4,
        n_batches=8,
        model_name_for_tokenizer=model,
        renderer_name="role_colon",
    )
    config = rl.Config(
        **common,
        recipe_name="arithmetic",
        renderer_name="role_colon",
        log_path=f"{folder}/arithmetic",
        dataset_builder=dataset,
        max_tokens=12,
        loss_fn="ppo",
        loss_fn_config={"clip_low_threshold": 0.8, "clip_high_threshold": 1.28},
        max_steps=steps,
    )
    asyncio.run(rl.main(config))


def steps_of(recipe):
    lines = Path(folder, recipe, "metrics.jsonl").read_text().splitlines()
    return sorted({json.loads(line)["step"] for line in lines})


def interrupt(recipe):
    """Leaves the recipe as if it had been killed before its end: without its final checkpoint."""
    checkpoints = Path(folder, recipe, "checkpoints.jsonl")
    lines = checkpoints.read_text().splitlines(keepends=True)
    checkpoints.write_text("".join(line for line in lines if json.loads(line)["name"] != "final"))


learn(2)
reinforce(2)
for recipe in ("supervised", "arithmetic"):
    interrupt(recipe)
print("restart", flush=True)
sys.stdin.readline()
learn(4)
reinforce(3)
print(json.dumps({recipe: steps_of(recipe) for recipe in ("supervised", "arithmetic")}), flush=True)
