"""
Serves models to `inspo run`, to sample from and to train by LoRA with PyTorch, on a processor or a CUDA GPU, by the part of the
Tinker protocol that a run uses. It speaks JSON and reduces the loss to the sum over tokens, as verl-tinker does, for which inspo
takes it by its answer to `healthz`.

    engine.py --model DIR|GGUF --out DIR [--port 8090] [--rank 8] [--device cpu] [--dtype bfloat16] [--threads 1] [--models 1] [--wait 0.05]

It holds adapters of `--models` models over one base model: a new one takes the place of the one that was longest without a request.
Samples that wait together are one batch, whichever models they are for, and updates too. Checkpoints are in DIR, and survive a restart.
"""

import hashlib
import queue
import threading
import traceback
import uuid
from dataclasses import dataclass, field
from pathlib import Path

import torch
from lora import Adapters, start
from safetensors.torch import load_file, save
from sample import JsonHandler, continuations, flags, load, sample, serve

# Tokens of a micro-batch, padding included.
MICRO_BATCH = {"cpu": 2048, "cuda": 16384}


@dataclass(eq=False)
class Job:
    """A request in the queue; `result` is its answer, or an error, once `done`."""

    path: str
    body: dict
    result: dict = field(default_factory=dict)
    done: threading.Event = field(default_factory=threading.Event)

    @property
    def model(self) -> str:
        return self.body.get("sampling_session_id") or self.body["model_id"]


@dataclass
class Model:
    """A model that is trained: the tensors of its adapter, with their gradients, at its place among the adapters."""

    place: int
    adapter: dict[str, torch.Tensor]
    optimizer: torch.optim.Optimizer = field(init=False)

    def __post_init__(self) -> None:
        self.restart()

    def restart(self) -> None:
        self.optimizer = torch.optim.AdamW(self.adapter.values(), lr=0.0)
        self.optimizer.zero_grad(set_to_none=False)


class Trainer:
    """The base model with adapters, which one thread uses."""

    def __init__(self, source: Path, out: Path, rank: int, device: str, dtype: str, models: int):
        base, self.words = load(source, out / "weights", getattr(torch, dtype))
        self.base = base.to(device).eval()
        self.adapters = Adapters(self.base, models, rank)
        self.free = list(range(models))
        self.context = base.config.max_position_embeddings
        self.checkpoints = out / "checkpoints"
        # In the order of their last requests.
        self.models: dict[str, Model] = {}

    def model(self, name: str) -> Model:
        self.models[name] = self.models.pop(name)
        return self.models[name]

    def create_model(self, body: dict) -> dict:
        if not self.free:
            self.free.append(self.models.pop(next(iter(self.models))).place)
        place = self.free.pop()
        adapter = self.adapters.of(place)
        start(adapter)
        self.models[body["model_id"]] = Model(place, adapter)
        return {"model_id": body["model_id"]}

    def asample(self, jobs: "list[Job]") -> None:
        asked = [
            continuations(
                tokens_of(job.body["prompt"]), job.body.get("num_samples", 1), job.body["sampling_params"], self.model(job.model).place
            )
            for job in jobs
        ]
        sample(self.base, self.words, [one for several in asked for one in several], self.adapters.use)
        for job, several in zip(jobs, asked, strict=True):
            job.result = {
                "sequences": [
                    {"stop_reason": "stop" if one.stopped else "length", "tokens": one.tokens, "logprobs": one.logprobs}
                    for one in several
                ]
            }

    @torch.inference_mode()
    def forward(self, jobs: "list[Job]") -> None:
        self.losses(jobs, "forward_input", trains=False)

    def forward_backward(self, jobs: "list[Job]") -> None:
        self.losses(jobs, "forward_backward_input", trains=True)

    def losses(self, jobs: "list[Job]", key: str, trains: bool) -> None:
        """Log-probabilities of the tokens that a request has a value for, 0 for others; adds to the gradients."""
        asked = []
        for job in jobs:
            given = job.body[key]
            if trains and given["loss_fn"] != "ppo":
                raise ValueError(f"loss_fn is {given['loss_fn']}, expected ppo")
            place, bounds = self.model(job.model).place, given.get("loss_fn_config") or {}
            asked.append([Datum.read(one, place, bounds) for one in given["data"]])
        rest = sorted((one for several in asked for one in several), key=lambda one: len(one.tokens))
        while rest:
            count = max(1, MICRO_BATCH[self.base.device.type] // len(rest[-1].tokens))
            self.batch(rest[-count:], trains)
            rest = rest[:-count]
        for job, several in zip(jobs, asked, strict=True):
            job.result = {
                "loss_fn_output_type": "scalar",
                "loss_fn_outputs": [{"logprobs": tensor(one.found)} for one in several],
                "metrics": {},
            }

    def batch(self, batch: "list[Datum]", trains: bool) -> None:
        device = self.base.device
        longest = max(len(one.tokens) for one in batch)
        tokens = torch.full((len(batch), longest), self.words.eos_token_id)
        present, counts = torch.zeros_like(tokens), torch.zeros_like(tokens, dtype=torch.bool)
        for row, one in enumerate(batch):
            tokens[row, : len(one.tokens)] = torch.tensor(one.tokens)
            present[row, : len(one.tokens)] = 1
            counts[row, one.places] = True
        self.adapters.use([one.adapter for one in batch])
        states = self.base.model(input_ids=tokens.to(device), attention_mask=present.to(device)).last_hidden_state
        logits = self.base.lm_head(states[counts.to(device)]).float()
        targets, old, advantages = (
            torch.tensor([getattr(one, name)[at] for one in batch for at in one.places], device=device)
            for name in ("targets", "logprobs", "advantages")
        )
        logprobs = logits.log_softmax(-1).gather(1, targets[:, None])[:, 0]
        if trains:
            low, high = (
                torch.tensor([one.bounds.get(f"clip_{side}_threshold", usual) for one in batch for _ in one.places], device=device)
                for side, usual in (("low", 0.8), ("high", 1.2))
            )
            ratio = (logprobs - old).exp()
            torch.minimum(ratio * advantages, ratio.clamp(low, high) * advantages).sum().neg().backward()
        found = iter(logprobs.tolist())
        for one in batch:
            for at in one.places:
                one.found[at] = min(0.0, next(found))

    def optim_step(self, body: dict) -> dict:
        asked, model = body["adam_params"], self.model(body["model_id"])
        for group in model.optimizer.param_groups:
            group["lr"] = asked["learning_rate"]
            group["betas"] = (asked.get("beta1", 0.9), asked.get("beta2", 0.95))
            group["eps"] = asked.get("eps", 1e-12)
            group["weight_decay"] = asked.get("weight_decay", 0)
        norm = torch.nn.utils.clip_grad_norm_(model.adapter.values(), asked.get("grad_clip_norm") or float("inf"))
        if not bool(norm.isfinite()):
            raise ValueError(f"the gradient has the norm {norm.item()}")
        model.optimizer.step()
        model.optimizer.zero_grad(set_to_none=False)
        return {"metrics": {"grad_norm": norm.item()}}

    def save_weights(self, body: dict) -> dict:
        model = self.model(body["model_id"])
        uri = f"tinker://{body['model_id']}/weights/{body['path']}"
        target = self.directory(uri)
        if target.exists():
            raise ValueError(f"the checkpoint {body['path']} exists")
        made = target.with_name(f"{target.name}.part")
        made.mkdir(parents=True, exist_ok=True)
        adapter = save({key: one.detach().cpu().contiguous() for key, one in model.adapter.items()})
        (made / "adapter.safetensors").write_bytes(adapter)
        torch.save(model.optimizer.state_dict(), made / "optimizer.pt")
        made.rename(target)
        return {"path": uri, "hash": hashlib.sha256(adapter).hexdigest()}

    def load_weights(self, body: dict) -> dict:
        source, model = self.directory(body["path"]), self.model(body["model_id"])
        for name, one in load_file(source / "adapter.safetensors").items():
            model.adapter[name].copy_(one)
        model.restart()
        if body["optimizer"]:
            model.optimizer.load_state_dict(torch.load(source / "optimizer.pt", weights_only=True))
        return {"path": body["path"]}

    def save_weights_for_sampler(self, body: dict) -> dict:
        """There are no weights but the present ones: clients ask again after a change."""
        return {"path": None, "sampling_session_id": body["model_id"]}

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
    adapter: int
    bounds: dict

    @staticmethod
    def read(given: dict, adapter: int, bounds: dict) -> "Datum":
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
            adapter,
            bounds,
        )


def tensor(values: list[float]) -> dict:
    return {"data": values, "dtype": "float32", "shape": [len(values)]}


def tokens_of(given: dict) -> list[int]:
    return [token for chunk in given["chunks"] for token in chunk["tokens"]]


# Requests that wait together are one batch, whichever models they are for.
BATCHED = ("forward_backward", "forward", "asample")


def ready(pending: list[Job]) -> list[Job]:
    """What can be done next, each model's requests in their order: what takes no batch, then updates, then samples."""
    possible: list[Job] = []
    first: dict[str, str] = {}
    blocked: set[str] = set()
    for job in pending:
        if first.setdefault(job.model, job.path) != job.path:
            blocked.add(job.model)
        elif job.model not in blocked:
            possible.append(job)
    single = [job for job in possible if job.path not in BATCHED][:1]
    return single or next(chosen for path in BATCHED if (chosen := [job for job in possible if job.path == path]))


def work(trainer: Trainer, waiting: "queue.Queue[Job]", wait: float) -> None:
    """Executes jobs; those of a batch once no other came for `wait` seconds."""
    pending: list[Job] = []
    while True:
        try:
            while True:
                hurries = any(job.path not in BATCHED for job in pending)
                pending.append(waiting.get(block=not hurries, timeout=wait if pending else None))
        except queue.Empty:
            pass
        jobs = ready(pending)
        pending = [job for job in pending if job not in jobs]
        execute(trainer, jobs)


def execute(trainer: Trainer, jobs: list[Job]) -> None:
    path = jobs[0].path
    run = getattr(trainer, path)
    known = [job for job in jobs if path == "create_model" or job.model in trainer.models]
    for job in jobs:
        if job not in known:
            job.result = failure(ValueError(f"the model {job.model} is not here any more: see --models"))
    try:
        if path not in BATCHED:
            for job in known:
                job.result = run(job.body)
        elif known:
            run(known)
    except Exception as error:  # the client gets the failure, and the server goes on
        traceback.print_exc()
        for job in known:
            job.result = failure(error)
    for job in jobs:
        job.done.set()


def failure(error: Exception) -> dict:
    return {"error": f"{type(error).__name__}: {error}", "category": "server"}


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
    parser = flags(8090)
    parser.add_argument("--out", required=True)
    parser.add_argument("--rank", type=int, default=8)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--models", type=int, default=1)
    parser.add_argument("--wait", type=float, default=0.05)
    given = parser.parse_args()
    torch.set_num_threads(given.threads)
    source = Path(given.model)
    trainer = Trainer(source, Path(given.out), given.rank, given.device, given.dtype, given.models)
    waiting: "queue.Queue[Job]" = queue.Queue()
    threading.Thread(target=work, args=(trainer, waiting, given.wait), daemon=True).start()
    serve(source.stem, given.port, handler(source.stem, trainer, waiting))


if __name__ == "__main__":
    main()
