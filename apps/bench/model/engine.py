"""
Serves a model to `inspo run`, to sample from and to train by LoRA with PyTorch, on a processor or a CUDA GPU, by the part of the
Tinker protocol that a run uses. It speaks JSON and reduces the loss to the sum over tokens, as verl-tinker does, for which inspo
takes it by its answer to `healthz`.

    engine.py --model DIR|GGUF --out DIR [--port 8090] [--rank 8] [--device cpu] [--dtype bfloat16] [--threads 1]

It holds one model at a time: a new one takes the place of the last. Samples that wait together are one batch. Checkpoints are in DIR,
and survive a restart.
"""

import argparse
import hashlib
import queue
import threading
import traceback
import uuid
from dataclasses import dataclass, field
from pathlib import Path

import torch
from peft import LoraConfig, get_peft_model
from safetensors.torch import load_file, save
from sample import JsonHandler, Server, continuations, load, sample

ALPHA = 32
# Tokens of a micro-batch, padding included.
MICRO_BATCH = 2048


@dataclass
class Job:
    """A request in the queue; `result` is its answer, or an error, once `done`."""

    path: str
    body: dict
    result: dict = field(default_factory=dict)
    done: threading.Event = field(default_factory=threading.Event)


class Trainer:
    """The model with its adapter, gradients and optimizer, which one thread uses."""

    def __init__(self, source: Path, out: Path, rank: int, device: str, dtype: str):
        base, self.words = load(source, out / "weights", getattr(torch, dtype))
        lora = LoraConfig(r=rank, lora_alpha=ALPHA, target_modules="all-linear", task_type="CAUSAL_LM")
        model = get_peft_model(base.to(device), lora).eval()
        self.base = model.get_base_model()
        self.adapter = {name: one for name, one in model.named_parameters() if one.requires_grad}
        for one in self.adapter.values():
            one.data = one.data.float()
        self.context = base.config.max_position_embeddings
        self.checkpoints = out / "checkpoints"
        self.id = ""

    def create_model(self, body: dict) -> dict:
        """Starts from the base model: with the same A each time, drawn as PEFT does, and B zero."""
        torch.manual_seed(0)
        for name, one in self.adapter.items():
            if ".lora_A." in name:
                torch.nn.init.kaiming_uniform_(one, a=5**0.5)
            else:
                torch.nn.init.zeros_(one)
        self.id = body["model_id"]
        self.restart()
        return {"model_id": self.id}

    def restart(self) -> None:
        self.optimizer = torch.optim.AdamW(self.adapter.values(), lr=0.0)

    def sample(self, jobs: list[Job]) -> None:
        asked = [
            continuations(tokens_of(job.body["prompt"]), job.body.get("num_samples", 1), job.body["sampling_params"]) for job in jobs
        ]
        sample(self.base, self.words, [one for several in asked for one in several])
        for job, several in zip(jobs, asked, strict=True):
            job.result = {
                "sequences": [
                    {"stop_reason": "stop" if one.stopped else "length", "tokens": one.tokens, "logprobs": one.logprobs}
                    for one in several
                ]
            }

    def forward(self, body: dict) -> dict:
        with torch.inference_mode():
            return self.losses(body["forward_input"], trains=False)

    def forward_backward(self, body: dict) -> dict:
        return self.losses(body["forward_backward_input"], trains=True)

    def losses(self, given: dict, trains: bool) -> dict:
        """Log-probabilities of the tokens that the request has a value for, 0 for others; adds to the gradients."""
        kind, bounds = given["loss_fn"], given.get("loss_fn_config") or {}
        if trains and kind != "ppo":
            raise ValueError(f"loss_fn is {kind}, expected ppo")
        datums = [Datum.read(one) for one in given["data"]]
        rest = sorted(datums, key=lambda one: len(one.tokens))
        while rest:
            count = max(1, MICRO_BATCH // len(rest[-1].tokens))
            self.batch(rest[-count:], trains, bounds)
            rest = rest[:-count]
        return {
            "loss_fn_output_type": "scalar",
            "loss_fn_outputs": [{"logprobs": tensor(one.found)} for one in datums],
            "metrics": {},
        }

    def batch(self, batch: "list[Datum]", trains: bool, bounds: dict) -> None:
        device = self.base.device
        longest = max(len(one.tokens) for one in batch)
        tokens = torch.full((len(batch), longest), self.words.eos_token_id)
        present, counts = torch.zeros_like(tokens), torch.zeros_like(tokens, dtype=torch.bool)
        for row, one in enumerate(batch):
            tokens[row, : len(one.tokens)] = torch.tensor(one.tokens)
            present[row, : len(one.tokens)] = 1
            counts[row, one.places] = True
        states = self.base.model(input_ids=tokens.to(device), attention_mask=present.to(device)).last_hidden_state
        logits = self.base.lm_head(states[counts.to(device)]).float()
        targets, old, advantages = (
            torch.tensor([getattr(one, name)[at] for one in batch for at in one.places], device=device)
            for name in ("targets", "logprobs", "advantages")
        )
        logprobs = logits.log_softmax(-1).gather(1, targets[:, None])[:, 0]
        if trains:
            ratio = (logprobs - old).exp()
            clipped = ratio.clamp(bounds.get("clip_low_threshold", 0.8), bounds.get("clip_high_threshold", 1.2))
            torch.minimum(ratio * advantages, clipped * advantages).sum().neg().backward()
        found = iter(logprobs.tolist())
        for one in batch:
            for at in one.places:
                one.found[at] = min(0.0, next(found))

    def optim_step(self, body: dict) -> dict:
        asked = body["adam_params"]
        for group in self.optimizer.param_groups:
            group["lr"] = asked["learning_rate"]
            group["betas"] = (asked.get("beta1", 0.9), asked.get("beta2", 0.95))
            group["eps"] = asked.get("eps", 1e-12)
            group["weight_decay"] = asked.get("weight_decay", 0)
        norm = torch.nn.utils.clip_grad_norm_(self.adapter.values(), asked.get("grad_clip_norm") or float("inf"))
        if not bool(norm.isfinite()):
            raise ValueError(f"the gradient has the norm {norm.item()}")
        self.optimizer.step()
        self.optimizer.zero_grad()
        return {"metrics": {"grad_norm": norm.item()}}

    def save_weights(self, body: dict) -> dict:
        uri = f"tinker://{self.id}/weights/{body['path']}"
        target = self.directory(uri)
        if target.exists():
            raise ValueError(f"the checkpoint {body['path']} exists")
        made = target.with_name(f"{target.name}.part")
        made.mkdir(parents=True, exist_ok=True)
        adapter = save({key: one.detach().cpu().contiguous() for key, one in self.adapter.items()})
        (made / "adapter.safetensors").write_bytes(adapter)
        torch.save(self.optimizer.state_dict(), made / "optimizer.pt")
        made.rename(target)
        return {"path": uri, "hash": hashlib.sha256(adapter).hexdigest()}

    def load_weights(self, body: dict) -> dict:
        source = self.directory(body["path"])
        for name, one in load_file(source / "adapter.safetensors").items():
            self.adapter[name].data.copy_(one)
        self.restart()
        if body["optimizer"]:
            self.optimizer.load_state_dict(torch.load(source / "optimizer.pt", weights_only=True))
        return {"path": body["path"]}

    def save_weights_for_sampler(self, body: dict) -> dict:
        """There are no weights but the present ones: clients ask again after a change."""
        return {"path": None, "sampling_session_id": self.id}

    def directory(self, uri: str) -> Path:
        model, _, name = uri.removeprefix("tinker://").split("/")
        return self.checkpoints / Path(model).name / Path(name).name


@dataclass
class Datum:
    """A trajectory, with lists parallel to its tokens. `found` are the log-probabilities of targets at the `places` that count."""

    tokens: list[int]
    targets: list[int]
    logprobs: list[float]
    advantages: list[float]
    places: list[int]
    found: list[float]

    @staticmethod
    def read(given: dict) -> "Datum":
        tokens = tokens_of(given["model_input"])
        inputs = {name: one["data"] for name, one in given["loss_fn_inputs"].items()}
        targets, nothing = inputs.pop("target_tokens"), [0.0] * len(tokens)
        return Datum(
            tokens,
            targets,
            inputs.get("logprobs", nothing),
            inputs.get("advantages", nothing),
            [at for at, values in enumerate(zip(*inputs.values(), strict=True)) if any(values)],
            list(nothing),
        )


def tensor(values: list[float]) -> dict:
    return {"data": values, "dtype": "float32", "shape": [len(values)]}


def tokens_of(given: dict) -> list[int]:
    return [token for chunk in given["chunks"] for token in chunk["tokens"]]


def work(trainer: Trainer, waiting: "queue.Queue[Job]") -> None:
    """Executes jobs in their order; samples that follow each other within 50 ms are one batch."""
    following: Job | None = None
    while True:
        job, following = following or waiting.get(), None
        jobs = [job]
        if job.path == "asample":
            try:
                while following is None:
                    one = waiting.get(timeout=0.05)
                    if one.path == "asample":
                        jobs.append(one)
                    else:
                        following = one
            except queue.Empty:
                pass
        try:
            model = job.body.get("sampling_session_id") or job.body["model_id"]
            if job.path != "create_model" and model != trainer.id:
                raise ValueError(f"the model {model} is not here any more: this server holds one at a time")
            if job.path == "asample":
                trainer.sample(jobs)
            else:
                job.result = getattr(trainer, job.path)(job.body)
        except Exception as error:  # the client gets the failure, and the server goes on
            traceback.print_exc()
            for one in jobs:
                one.result = {"error": f"{type(error).__name__}: {error}", "category": "server"}
        for one in jobs:
            one.done.set()


FUTURES = (
    "asample",
    "create_model",
    "forward",
    "forward_backward",
    "load_weights",
    "optim_step",
    "save_weights",
    "save_weights_for_sampler",
)


def handler(name: str, trainer: Trainer, waiting: "queue.Queue[Job]"):
    jobs: dict[str, Job] = {}

    class Handler(JsonHandler):
        def do_GET(self) -> None:
            if self.path == "/api/v1/healthz":
                return self.send(200, {"status": "ready"})
            self.send(200, {"supported_models": [{"model_name": name, "max_context_length": trainer.context}]})

        def do_POST(self) -> None:
            body = self.read()
            path = self.path.removeprefix("/api/v1/")
            if path == "retrieve_future":
                return self.retrieve(body["request_id"])
            if path in FUTURES:
                return self.send(200, self.submit(path, body))
            if path == "create_session":
                return self.send(200, {"session_id": uuid.uuid4().hex})
            if path in ("client/config", "session_heartbeat"):
                return self.send(200, {})
            self.send(404, {"detail": f"{path} is not a part of the protocol that this server has"})

        def submit(self, path: str, body: dict) -> dict:
            request_id = uuid.uuid4().hex
            if path == "create_model":
                body["model_id"] = uuid.uuid4().hex
            jobs[request_id] = Job(path, body)
            waiting.put(jobs[request_id])
            return {"request_id": request_id}

        def retrieve(self, request_id: str) -> None:
            job = jobs.get(request_id)
            if job is None:
                return self.send(404, {"detail": "there is no such future"})
            if not job.done.wait(30):
                return self.send(200, {"type": "try_again", "request_id": request_id, "queue_state": "active"})
            self.send(200, job.result)

    return Handler


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--model", required=True)
    parser.add_argument("--out", required=True)
    parser.add_argument("--port", type=int, default=8090)
    parser.add_argument("--rank", type=int, default=8)
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--dtype", choices=["bfloat16", "float32"], default="bfloat16")
    parser.add_argument("--threads", type=int, default=1)
    given = parser.parse_args()
    torch.set_num_threads(given.threads)
    trainer = Trainer(Path(given.model), Path(given.out), given.rank, given.device, given.dtype)
    waiting: "queue.Queue[Job]" = queue.Queue()
    threading.Thread(target=work, args=(trainer, waiting), daemon=True).start()
    server = Server(("127.0.0.1", given.port), handler(Path(given.model).stem, trainer, waiting))
    print(f"{Path(given.model).stem} on http://127.0.0.1:{server.server_port}", flush=True)
    server.serve_forever()


if __name__ == "__main__":
    main()
