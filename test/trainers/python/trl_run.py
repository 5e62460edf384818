"""One process of TRL's GRPOTrainer over the instruction server: trl_run.py URL FOLDER ATTEMPT STEPS."""

import os
import sys

import torch
from inspo_client.integrations import TrainingRun
from inspo_client.integrations.trl import Instructions
from trl import GRPOConfig, GRPOTrainer

import tiny_model
from world import RewardLog, reward

url, folder, attempt, steps = sys.argv[1:]
torch.set_num_threads(1)
rank = int(os.environ["RANK"])
rewards = RewardLog(f"{folder}/log-{rank}.jsonl", rank, attempt)
validated = RewardLog(f"{folder}/validation-{rank}.jsonl", rank, attempt)
texts = {}


def prompt(row, lease):
    texts[lease.id] = lease.text
    return [{"role": "system", "content": lease.text}, *row["prompt"]]


def score(prompts, completions, lease, **_):
    values = []
    for place, (messages, one) in enumerate(zip(prompts, lease)):
        assert messages[0]["content"] == texts[one["id"]]
        sample = (rank * len(prompts) + place) % one["n"]
        values.append(reward(texts[one["id"]], int(one["key"].split("#")[0]), sample))
        log = rewards if "cohort" in one else validated
        log.write(one.get("cohort", -1), one["key"], one["id"], sample, texts[one["id"]], values[-1])
    return values


args = GRPOConfig(
    output_dir=f"{folder}/out",
    use_cpu=True,
    bf16=False,
    report_to=[],
    disable_tqdm=True,
    per_device_train_batch_size=8,
    steps_per_generation=2,
    gradient_accumulation_steps=1,
    num_generations=2,
    max_completion_length=4,
    max_steps=int(steps),
    save_steps=3,
    save_total_limit=2,
    eval_strategy="steps",
    eval_steps=16,
    per_device_eval_batch_size=4,
    shuffle_dataset=False,
    seed=1,
)
# With several processes the device is `cpu:0`, to which torch restores no checkpoint of an optimizer.
args.__dict__["_setup_devices"] = torch.device("cpu")
instructions = Instructions(TrainingRun([url], "policy", retry_budget=120), args, prompt=prompt)
rows = [{"prompt": [{"role": "user", "content": f"Question {index}?"}]} for index in range(23)]
tokens = tiny_model.tokenizer()
trainer = GRPOTrainer(
    model=tiny_model.model(tokens),
    processing_class=tokens,
    args=args,
    reward_funcs=instructions.reward(score),
    train_dataset=instructions.train(rows),
    eval_dataset=instructions.validation(rows[:5]),
    callbacks=[instructions],
)
has_checkpoint = os.path.isdir(args.output_dir) and any("checkpoint" in name for name in os.listdir(args.output_dir))
trainer.train(resume_from_checkpoint=has_checkpoint)
assert any("instructions/newest" in entry for entry in trainer.state.log_history), trainer.state.log_history[-3:]
# Else gloo, whose threads outlive the interpreter, sometimes aborts the process: pytorch issue 190489.
torch.distributed.destroy_process_group()
