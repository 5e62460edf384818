"""The public Tinker SDK against `inspo engine serve`: trains, saves, resumes, samples and lists. Takes URL and base model."""

import json
import math
import sys

import numpy as np
import tinker
import torch
from tinker import types

url, model = sys.argv[1:]
service = tinker.ServiceClient(base_url=url, api_key="tml-local")
client = service.create_lora_training_client(base_model=model, rank=8).result()
tokenizer = client.get_tokenizer()
assert tokenizer.decode(tokenizer.encode("Who is the mayor?")) == "Who is the mayor?"
assert client.get_info().lora_rank == 8


def datum(text, weights=None):
    tokens = tokenizer.encode(text)
    weights = weights or [1.0] * (len(tokens) - 1)
    return types.Datum(
        model_input=types.ModelInput.from_ints(tokens[:-1]),
        loss_fn_inputs={"target_tokens": tokens[1:], "weights": weights},
    )


def step(client, data, **adam):
    gradient = client.forward_backward(data, "cross_entropy")
    stepped = client.optim_step(types.AdamParams(learning_rate=1e-3, **adam))
    stepped.result()
    return gradient.result()


def logprobs(client, one):
    return np.array(client.forward([one], "cross_entropy").result().loss_fn_outputs[0]["logprobs"].data)


text = " The mayor of Ostrel Bay is"
whole = datum(text)
length = whole.model_input.length
# Tokens of weight 0 get answers like all others.
partly = datum(text, [0.0] * (length - 1) + [1.0])
assert np.allclose(logprobs(client, whole), logprobs(client, partly)), "log-probabilities depend on weights"

first = step(client, [whole]).metrics["loss:sum"]
for _ in range(3):
    last = step(client, [whole]).metrics["loss:sum"]
assert last < first, (first, last)


def custom(data, values):
    loss = -sum(value.sum() for value in values)
    return loss, {"custom": float(loss)}


client.forward_backward_custom([whole], custom).result()
client.optim_step(types.AdamParams(learning_rate=1e-3)).result()

saved = client.save_state("sdk", ttl_seconds=3600).result().path
before = logprobs(client, whole)

# Weights alone, and weights with the optimizer's state: only the latter continues as the first client does.
kept = service.create_training_client_from_state_with_optimizer(saved).result()
fresh = service.create_training_client_from_state(saved).result()
assert kept.get_info().lora_rank == 8
for resumed in (kept, fresh):
    assert np.array_equal(logprobs(resumed, whole), before)
for each in (client, kept, fresh):
    step(each, [whole])
assert np.array_equal(logprobs(kept, whole), logprobs(client, whole))
assert not np.array_equal(logprobs(fresh, whole), logprobs(client, whole))

sampler = client.save_weights_and_get_sampling_client().result()
prompt = types.ModelInput.from_ints(tokenizer.encode(text))
params = {"max_tokens": 24, "seed": 1}
plain = sampler.sample(prompt, 4, types.SamplingParams(**params)).result()
again = sampler.sample(prompt, 4, types.SamplingParams(**params)).result()
assert [one.tokens for one in plain.sequences] == [one.tokens for one in again.sequences]
assert len({one.sequence_id for one in plain.sequences}) == 4
assert all(math.isfinite(value) for one in plain.sequences for value in one.logprobs)

# A text of several tokens, in the middle of the sample.
tokens = next(one.tokens for one in plain.sequences if len(one.tokens) > 4)
stop = tokenizer.decode(tokens[1:4])
stopped = sampler.sample(prompt, 4, types.SamplingParams(**params, stop=[stop])).result()
for one, full in zip(stopped.sequences, plain.sequences, strict=True):
    if stop in tokenizer.decode(full.tokens):
        assert one.stop_reason == "stop" and tokenizer.decode(one.tokens).rstrip().endswith(stop.rstrip()), one
    assert one.tokens == full.tokens[: len(one.tokens)]

greedy = sampler.sample(prompt, 1, types.SamplingParams(max_tokens=8, temperature=0)).result()
narrow = sampler.sample(prompt, 1, types.SamplingParams(max_tokens=8, top_k=1, seed=7)).result()
assert narrow.sequences[0].tokens == greedy.sequences[0].tokens

scored = sampler.compute_logprobs(prompt).result()
assert scored[0] is None and np.allclose(scored[1:], logprobs(client, whole), atol=1e-5)

# Losses of reinforcement learning, with unequal bounds.
answer = plain.sequences[0]
full = prompt.to_ints() + answer.tokens
pad = [0.0] * (len(prompt.to_ints()) - 1)
rl = types.Datum(
    model_input=types.ModelInput.from_ints(full[:-1]),
    loss_fn_inputs={
        # As a recipe of the cookbook sends it: what does not count need not be the next token.
        "target_tokens": [0] * len(pad) + answer.tokens,
        "logprobs": pad + answer.logprobs,
        "advantages": pad + [1.0] * len(answer.tokens),
    },
)
client.forward_backward([rl], "importance_sampling").result()
client.forward_backward(
    [rl], "ppo", loss_fn_config={"clip_low_threshold": 0.8, "clip_high_threshold": 1.28}
).result()
client.forward_backward([rl], "cispo").result()

refused = []
for call in (
    lambda: client.forward_backward([rl], "gspo").result(),
    lambda: client.forward_backward([rl], "ppo", loss_fn_config={"delta": 1.0}).result(),
    lambda: sampler.sample(prompt, 1, types.SamplingParams(max_tokens=4, stop=[])).result(),
    lambda: sampler.sample(prompt, 1, types.SamplingParams(max_tokens=4), topk_prompt_logprobs=5).result(),
    lambda: service.create_lora_training_client(base_model="other").result(),
):
    try:
        call()
    except tinker.BadRequestError as error:
        refused.append(str(error.body))
    except tinker.RequestFailedError as error:
        refused.append(str(error))
    else:
        raise AssertionError("not refused")

rest = tinker.RestClient(base_url=url, api_key="tml-local")
assert rest.get_server_capabilities().result().supported_models[0].model_name == model
runs = rest.list_training_runs().result()
run = rest.get_training_run_by_tinker_path(saved).result()
assert run.training_run_id in [one.training_run_id for one in runs.training_runs]
assert run.lora_rank == 8 and run.last_checkpoint.tinker_path == saved, run
listed = rest.list_checkpoints(run.training_run_id).result().checkpoints
assert [one.tinker_path for one in listed] == [saved] and listed[0].expires_at is not None, listed
assert rest.get_weights_info_by_tinker_path(saved).result().lora_rank == 8

named = client.save_weights_for_sampler("named").result().path
by_path = service.create_sampling_client(model_path=named).result()
assert by_path.get_tokenizer().decode([tokens[0]]) == tokenizer.decode([tokens[0]])
by_path.sample(prompt, 1, types.SamplingParams(max_tokens=2)).result()
rest.delete_checkpoint_from_tinker_path(saved).result()
assert [one.tinker_path for one in rest.list_user_checkpoints().result().checkpoints] == [named]

print(json.dumps({"losses": [first, last], "refused": refused}))
