"""What verl and TRL make of batches: reads JSON from standard input, and writes the answers of their own functions.

A function of TRL that is part of a longer method is run from the lines of its source. Gradients are those of autograd.
"""

import inspect
import json
import sys
import textwrap
from collections import defaultdict
from types import SimpleNamespace

import numpy as np
import torch
import verl.trainer.ppo.core_algos as algos
from trl import GRPOTrainer, RLOOTrainer
from trl.rewards import get_repetition_penalty_reward, get_soft_overlong_punishment
from trl.trainer.utils import nanstd
from verl.trainer.ppo.rollout_corr_helper import compute_rollout_correction_weights, compute_rollout_rejection_mask
from verl.workers.config import ActorConfig

torch.set_default_dtype(torch.float64)


def numbers(values):
    """JSON writes whole numbers without a point."""
    return torch.tensor(values, dtype=torch.float64)


def padded(rows):
    width = max(len(row) for row in rows)
    return numbers([list(row) + [0.0] * (width - len(row)) for row in rows])


def masks(lengths):
    return padded([[1.0] * length for length in lengths])


def unpadded(values, lengths):
    return [row[:length] for row, length in zip(values.tolist(), lengths)]


# --- advantages ---


def of_verl(batch):
    groups = batch["groups"]
    rewards = [reward for group in groups for reward in group["rewards"]]
    lengths = [length for group in groups for length in group["lengths"]]
    index = np.array([str(at) for at, group in enumerate(groups) for _ in group["rewards"]])
    mask = masks(lengths)
    given = torch.zeros_like(mask)
    for row, (reward, length) in enumerate(zip(rewards, lengths)):
        given[row, length - 1] = reward

    def run(name, **kwargs):
        values, _ = getattr(algos, f"compute_{name}_outcome_advantage")(
            token_level_rewards=given.clone(), response_mask=mask, **kwargs
        )
        return values[:, 0].tolist()

    return {
        "standardised": run("grpo", index=index),
        "centred": run("grpo", index=index, norm_adv_by_std_in_grpo=False),
        "leave-one-out": run("rloo", index=index),
        "opo": run("opo", index=index),
        "gpg": run("gpg", index=index),
        "best-of-group": run("grpo_passk", index=index, config={"norm_adv_by_std_in_grpo": True}),
        "reinforce-plus-plus": run("reinforce_plus_plus", config=SimpleNamespace(gamma=1.0)),
        "reinforce-plus-plus-baseline": run("reinforce_plus_plus_baseline", index=index),
        "remax": run("remax", reward_baselines=torch.full((len(rewards),), float(batch["greedy"]))),
    }


def between(function, first, last):
    """The lines of a function's source from one that starts as `first` to one that starts as `last`."""
    lines = inspect.getsource(function).split("\n")
    start = next(at for at, line in enumerate(lines) if line.strip().startswith(first))
    end = next(at for at, line in enumerate(lines) if at > start and line.strip().startswith(last))
    return textwrap.dedent("\n".join(lines[start : end + 1]))


of_grpo = between(GRPOTrainer._generate_and_score_completions, "unscorable_mask =", "advantages = torch.nan_to_num")
of_rloo = between(RLOOTrainer._generate_and_score_completions, "grouped_rewards =", "advantages = torch.nan_to_num")


def of_trl(batch):
    size = len(batch["groups"][0]["rewards"])
    rewards = numbers([reward for group in batch["groups"] for reward in group["rewards"]])
    kinds = torch.stack([rewards, numbers([kind for group in batch["groups"] for kind in group["others"]])], 1)

    def run(source, per_function, **settings):
        trainer = SimpleNamespace(
            reward_weights=torch.tensor([1.0, 0.5][: per_function.shape[1]]),
            reward_funcs=[None] * per_function.shape[1],
            **settings,
        )
        names = {
            "self": trainer,
            "torch": torch,
            "nanstd": nanstd,
            "rewards_per_func": per_function,
            "rewards": rewards,
            "num_generations": size,
            "device": "cpu",
        }
        exec(source, names)  # noqa: S102
        return names["advantages"].tolist()

    def grpo(scale):
        return run(of_grpo, rewards[:, None], multi_objective_aggregation="sum_then_normalize", scale_rewards=scale)

    return {
        "standardised": grpo("group"),
        "centred": grpo("none"),
        "batch-scaled": grpo("batch"),
        "leave-one-out": run(of_rloo, rewards[:, None], normalize_advantages=False),
        "gdpo": run(of_grpo, kinds, multi_objective_aggregation="normalize_then_sum", scale_rewards="group"),
    }


# --- losses ---


def differentiated(batch, loss_of):
    lengths = [len(row) for row in batch["logprobs"]]
    logprobs = padded(batch["logprobs"]).requires_grad_()
    loss = loss_of(logprobs, padded(batch["old"]), numbers(batch["advantages"]), masks(lengths))
    (gradient,) = torch.autograd.grad(loss, logprobs)
    return {"loss": loss.item(), "gradient": unpadded(gradient, lengths)}


def losses_of_verl(batch):
    def run(mode, dro_beta=None, **settings):
        config = ActorConfig(strategy="fsdp", rollout_n=1, ppo_micro_batch_size_per_gpu=1, **settings)
        if dro_beta is not None:
            object.__setattr__(config.policy_loss, "dro_beta", dro_beta)

        def loss(logprobs, old, advantages, mask):
            value, _ = algos.get_policy_loss_fn(mode)(
                old_log_prob=old,
                log_prob=logprobs,
                advantages=advantages[:, None].expand_as(mask) * mask,
                response_mask=mask,
                loss_agg_mode="seq-mean-token-mean",
                config=config,
            )
            return value

        return differentiated(batch, loss)

    return {
        "clip": run("vanilla", clip_ratio_low=0.2, clip_ratio_high=0.28, clip_ratio_c=3.0),
        "cispo": run("cispo", clip_ratio_low=0.2, clip_ratio_high=0.2),
        "gspo": run("gspo", clip_ratio_low=0.1, clip_ratio_high=0.15),
        "gmpo": run("geo_mean", clip_ratio_low=0.4, clip_ratio_high=0.4),
        "sapo": run("sapo"),
        "dppo-tv": run("dppo_tv", clip_ratio_low=0.2, clip_ratio_high=0.2, clip_ratio_c=20.0),
        "reinforce": run("gpg"),
        "dro": run("dro", dro_beta=0.3),
    }


def losses_of_trl(batch):
    def run(kind, level="token", low=0.2, high=0.2, delta=None):
        def loss(logprobs, old, advantages, mask):
            trainer = SimpleNamespace(
                loss_type=kind,
                importance_sampling_level=level,
                epsilon_low=low,
                epsilon_high=high,
                beta=0.0,
                args=SimpleNamespace(
                    delta=delta,
                    use_bias_correction_kl=False,
                    sapo_temperature_pos=1.0,
                    sapo_temperature_neg=1.05,
                    vespo_k_pos=2.0,
                    vespo_lambda_pos=3.0,
                    vespo_k_neg=3.0,
                    vespo_lambda_neg=2.0,
                    steps_per_generation=1,
                ),
                top_entropy_quantile=1.0,
                off_policy_mask_threshold=None,
                use_vllm=False,
                vllm_importance_sampling_correction=False,
                aux_loss_enabled=False,
                _entropy_bonus_enabled=False,
                use_adaptive_entropy=False,
                model=SimpleNamespace(training=True),
                current_gradient_accumulation_steps=1,
                max_completion_length=mask.shape[1],
                get_gamma_weights=GRPOTrainer.get_gamma_weights,
                _get_per_token_logps_and_entropies=lambda *_, **__: (logprobs, torch.zeros_like(mask), None),
                accelerator=SimpleNamespace(
                    num_processes=1, sync_gradients=True, gather=lambda x: x, reduce=lambda x, **_: x
                ),
                _metrics={"train": defaultdict(list)},
            )
            ids = torch.zeros_like(mask, dtype=torch.long)
            inputs = {
                "prompt_ids": ids[:, :1],
                "prompt_mask": ids[:, :1] + 1,
                "completion_ids": ids,
                "completion_mask": mask,
                "advantages": advantages,
                "old_per_token_logps": old,
                "num_items_in_batch": mask.sum(),
            }
            return GRPOTrainer._compute_loss(trainer, None, inputs)

        return differentiated(batch, loss)

    return {
        "clip": run("grpo", high=0.28, delta=4.0),
        "clip by tokens": run("dapo"),
        "gspo": run("grpo", level="sequence", low=0.1, high=0.15),
        "cispo": run("cispo", high=1.2),
        "sapo": run("sapo"),
        "vespo": run("vespo"),
        "luspo": run("luspo", level="sequence", low=0.1, high=0.15),
    }


# --- corrections and rewards ---


def corrections(batch):
    lengths = [len(row) for row in batch["logprobs"]]
    mask = masks(lengths)
    trainer, sampler = padded(batch["logprobs"]), padded(batch["old"])
    ratio = trainer - sampler

    def weights(level, threshold):
        return unpadded(compute_rollout_correction_weights(ratio, mask, level, threshold)[0], lengths)

    kept = compute_rollout_rejection_mask(ratio, mask, "seq_mean_k1", "0.8_1.3")[0]
    off = GRPOTrainer.get_off_policy_mask(
        advantages=numbers(batch["advantages"])[:, None],
        per_token_logps=trainer,
        sampling_per_token_logps=sampler,
        mask=mask,
        off_policy_threshold=0.5,
    )
    return {
        "truncate-tokens": weights("token", 2.0),
        "truncate-sequence": weights("sequence", 2.0),
        "mask-tokens": weights("token", "0.5_5.0"),
        "mask-sequence": weights("sequence", "0.1_3.0"),
        "reject-sequence": unpadded(kept, lengths),
        "reject-failures": unpadded(off.expand_as(mask), lengths),
    }


def rewards(batch):
    ids = [list(range(length)) for length in batch["lengths"]]
    return {
        "soft-overlong": get_soft_overlong_punishment(40, 10)(ids),
        "repetition": get_repetition_penalty_reward(3, -1.0)(batch["words"]),
    }


batches = json.load(sys.stdin)
json.dump(
    [
        {
            "advantages": {"verl": of_verl(batch), "TRL": of_trl(batch)},
            "losses": {"verl": losses_of_verl(batch), "TRL": losses_of_trl(batch)},
            "corrections": corrections(batch),
            "rewards": rewards(batch),
        }
        for batch in batches
    ],
    sys.stdout,
)
