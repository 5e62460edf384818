"""
One run of the trained study: TRL's GRPOTrainer trains the model on a task of the gate, by LoRA, with instructions that a
server leases. If it is started again, it continues from its checkpoint. Writes DIR/result.json.

    train.py --url URL --model PATH --questions ROWS.jsonl --plain TEXT --tokens 24 --seed 1 --steps 40 --out DIR REWARD …

A row has `id`, `prompt`, `golden_answers` and `split`, train or held-out. REWARD is a program that reads answers as lines of
JSON and writes a reward for each. Held-out questions are answered with the PLAIN instruction and with the leading one, in at
most `tokens` tokens.
"""

import argparse
import json
import random
import subprocess
import urllib.request
from pathlib import Path

import torch
from inspo_client.integrations import TrainingRun
from inspo_client.integrations.trl import Instructions
from peft import LoraConfig
from transformers import AutoModelForCausalLM, AutoTokenizer
from trl import GRPOConfig, GRPOTrainer
from weights import dequantized

GROUPS, GROUP_SIZE = 4, 4


def main() -> None:
    parser = argparse.ArgumentParser()
    for name in ("url", "model", "questions", "plain", "out"):
        parser.add_argument(f"--{name}", required=True)
    for name in ("tokens", "seed", "steps"):
        parser.add_argument(f"--{name}", type=int, required=True)
    parser.add_argument("reward", nargs="+")
    given = parser.parse_args()

    out = Path(given.out)
    model, tokens = load(Path(given.model), out)
    rows = [json.loads(line) for line in Path(given.questions).read_text().splitlines()]
    train, held_out = ([row for row in rows if row["split"] == split] for split in ("train", "held-out"))
    random.Random(given.seed).shuffle(train)

    args = GRPOConfig(
        output_dir=str(out / "checkpoints"),
        use_cpu=True,
        bf16=torch.backends.cpu.get_cpu_capability() == "AVX512",  # elsewhere slower than none
        report_to=[],
        disable_tqdm=True,
        logging_steps=1,
        save_steps=5,
        save_total_limit=2,
        max_steps=given.steps,
        per_device_train_batch_size=GROUPS * GROUP_SIZE,
        num_generations=GROUP_SIZE,
        max_completion_length=given.tokens,
        temperature=0.7,
        learning_rate=2e-4,
        lr_scheduler_type="constant_with_warmup",
        warmup_steps=5,
        gradient_checkpointing=False,
        shuffle_dataset=False,
        seed=given.seed,
    )
    instructions = Instructions(
        TrainingRun([given.url], "policy", retry_budget=120), args, prompt=lambda row, lease: asked(lease.text, row["prompt"])
    )

    def reward(completions, golden_answers, **_) -> list[float]:
        return rewards(given.reward, [completion[0]["content"] for completion in completions], golden_answers)

    trainer = GRPOTrainer(
        model=model,
        processing_class=tokens,
        args=args,
        reward_funcs=instructions.reward(reward),
        train_dataset=instructions.train(train),
        callbacks=[instructions],
        peft_config=LoraConfig(r=16, lora_alpha=32, target_modules="all-linear", task_type="CAUSAL_LM"),
    )
    checkpoints = Path(args.output_dir)
    trainer.train(resume_from_checkpoint=checkpoints.is_dir() and any(checkpoints.glob("checkpoint-*")))

    leading = most_drawn(given.url)
    golden = [row["golden_answers"] for row in held_out]
    answers = {}
    for instruction in {given.plain, leading}:
        texts = answer(trainer.model, tokens, [asked(instruction, row["prompt"]) for row in held_out], given.tokens)
        scores = rewards(given.reward, texts, golden)
        answers[instruction] = [
            {"question": row["id"], "text": text, "reward": score} for row, text, score in zip(held_out, texts, scores)
        ]
    result = {
        "seed": given.seed,
        "rollouts": GROUPS * GROUP_SIZE * given.steps,
        "steps": [{"step": log["step"], "reward": log["reward"]} for log in trainer.state.log_history if "reward" in log],
        "leading": leading,
        "answers": {"plain": answers[given.plain], "leading": answers[leading]},
    }
    written = out / "result.json.tmp"
    written.write_text(json.dumps(result, indent=1))
    written.rename(out / "result.json")


def most_drawn(url: str) -> str:
    """The instruction with the largest share, whose recent rewards were the best; a short run is not enough to change the incumbent."""
    with urllib.request.urlopen(f"{url}/v1/populations/policy", timeout=60) as answered:
        members = json.load(answered)["members"]
    return max(members, key=lambda member: member["probability"])["wording"]


def load(model: Path, out: Path):
    """Loads a directory of transformers, or a GGUF file, which is converted to such a directory once for all runs."""
    model = dequantized(model, out.parent.parent / "weights")
    tokens = AutoTokenizer.from_pretrained(model, padding_side="left")
    return AutoModelForCausalLM.from_pretrained(model, dtype=torch.float32), tokens


def asked(instruction: str, prompt: str) -> list[dict]:
    return [{"role": "user", "content": f"{instruction}\n\n{prompt}"}]


def rewards(command: list[str], texts: list[str], golden_answers: list[list[str]]) -> list[float]:
    lines = [
        json.dumps({"response": text, "answer": None, "golden_answers": golden})
        for text, golden in zip(texts, golden_answers, strict=True)
    ]
    finished = subprocess.run(command, input="\n".join(lines), capture_output=True, text=True, check=True)
    scores = [float(line) for line in finished.stdout.splitlines()]
    if len(scores) != len(lines):
        raise ValueError(f"{command} wrote {len(scores)} rewards, expected {len(lines)}")
    return scores


@torch.inference_mode()
def answer(model, tokens, prompts: list[list[dict]], most: int) -> list[str]:
    """The responses of the model without sampling."""
    answers = []
    for start in range(0, len(prompts), 20):
        batch = tokens.apply_chat_template(
            prompts[start : start + 20], add_generation_prompt=True, padding=True, return_tensors="pt", return_dict=True
        )
        written = model.generate(**batch, max_new_tokens=most, do_sample=False)
        answers += tokens.batch_decode(written[:, batch["input_ids"].shape[1] :], skip_special_tokens=True)
    return answers


if __name__ == "__main__":
    main()
