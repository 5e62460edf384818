"""
Serves a model over /v1/completions with token ids, as vLLM does, sampled with PyTorch: for many short answers at once, on the
weights that engine.py trains. Requests that wait together are one batch, and the beginning that their prompts share is read once.

    sample.py --model GGUF [--port 8080] [--batch 192] [--device cpu] [--dtype bfloat16]

A request's own seed decides its draws, whatever it is batched with; the batch changes probabilities by rounding.
"""

import argparse
import json
import queue
import threading
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import torch
from transformers import AutoModelForCausalLM, AutoTokenizer
from transformers.integrations.sdpa_attention import sdpa_attention_forward
from transformers.masking_utils import ALL_MASK_ATTENTION_FUNCTIONS
from transformers.modeling_utils import ALL_ATTENTION_FUNCTIONS
from weights import dequantized


@dataclass
class Asked:
    """A continuation that is asked for. `tokens`, `logprobs` and `stopped` are its answer once `ready`."""

    prompt: list[int]
    most: int
    temperature: float
    top_p: float
    seed: int
    stop: list[str]
    adapter: int = 0
    tokens: list[int] = field(default_factory=list)
    logprobs: list[float] = field(default_factory=list)
    stopped: bool = False
    failure: str | None = None
    ready: threading.Event = field(default_factory=threading.Event)


def grouped(module, query, key, value, mask, scaling=None, **rest):
    """Attention of one new token, with the heads that share keys as rows of one product: several times faster on a processor."""
    if query.shape[2] > 1:
        return sdpa_attention_forward(module, query, key, value, mask, scaling=scaling, **rest)
    count, heads, _, size = query.shape
    shared = key.shape[1]
    # Keys first: a product that needs them transposed would copy them.
    scores = (key @ query.reshape(count, shared, heads // shared, size).transpose(2, 3)).transpose(2, 3) * scaling
    if mask is not None:
        scores = scores.masked_fill(~mask, float("-inf"))
    return (scores.float().softmax(-1).to(query.dtype) @ value).reshape(count, 1, heads, size), None


ALL_ATTENTION_FUNCTIONS.register("grouped", grouped)
ALL_MASK_ATTENTION_FUNCTIONS.register("grouped", ALL_MASK_ATTENTION_FUNCTIONS["sdpa"])


@torch.inference_mode()
def sample(model, words, batch: list[Asked], use=lambda adapters: None) -> None:
    """
    Answers a batch by the inverse of the distribution function, without the sequences that have ended. `use` gets the adapter of
    each row before the model reads them.
    """
    device, end = model.device, words.eos_token_id
    adapters = [one.adapter for one in batch]
    prompts = [one.prompt for one in batch]
    shared = 0
    while all(len(prompt) > shared + 1 and prompt[shared] == prompts[0][shared] for prompt in prompts):
        shared += 1
    longest = max(len(prompt) for prompt in prompts) - shared
    mask = torch.zeros((len(batch), shared + longest), dtype=torch.long)
    rest = torch.full((len(batch), longest), end)
    mask[:, :shared] = 1
    for row, prompt in enumerate(prompts):
        rest[row, longest - (len(prompt) - shared) :] = torch.tensor(prompt[shared:])
        mask[row, shared + longest - (len(prompt) - shared) :] = 1
    mask, rest = mask.to(device), rest.to(device)
    cache = None
    if shared > 0:
        distinct = sorted(set(adapters))
        use(distinct)
        start = torch.tensor([prompts[0][:shared]] * len(distinct), device=device)
        cache = model.model(input_ids=start, use_cache=True).past_key_values
        cache.batch_select_indices(torch.tensor([distinct.index(one) for one in adapters], device=device))
    use(adapters)
    places = (mask.cumsum(1) - 1).clamp(min=0)[:, shared:]
    read = model.model(input_ids=rest, attention_mask=mask, position_ids=places, past_key_values=cache, use_cache=True)
    draws = torch.stack(
        [torch.rand(max(one.most for one in batch), generator=torch.Generator().manual_seed(one.seed)) for one in batch]
    ).to(device)
    heat = torch.tensor([max(one.temperature, 1e-6) for one in batch], device=device)
    top_p = torch.tensor([one.top_p for one in batch], device=device)
    going = list(range(len(batch)))
    for step in range(draws.shape[1]):
        logits = model.lm_head(read.last_hidden_state[:, -1]).float()
        rows = torch.tensor(going, device=device)
        shares = nucleus((logits / heat[rows, None]).softmax(-1), top_p[rows, None]).cumsum(-1)
        tokens = torch.searchsorted(shares, draws[rows, step, None] * shares[:, -1:], right=True)
        tokens = tokens.clamp(max=logits.shape[1] - 1)
        logprobs = logits.log_softmax(-1).gather(1, tokens)[:, 0].tolist()
        kept = []
        for at, (row, token, logprob) in enumerate(zip(going, tokens[:, 0].tolist(), logprobs, strict=True)):
            one = batch[row]
            one.tokens.append(token)
            one.logprobs.append(logprob)
            written = words.decode(one.tokens[-16:]) if one.stop else ""
            one.stopped = token == end or any(text in written for text in one.stop)
            if not one.stopped and len(one.tokens) < one.most:
                kept.append(at)
        if not kept:
            break
        if len(kept) < len(going):
            chosen = torch.tensor(kept, device=device)
            read.past_key_values.batch_select_indices(chosen)
            tokens, mask, going = tokens[chosen], mask[chosen], [going[at] for at in kept]
            use([adapters[row] for row in going])
        mask = torch.cat([mask, mask.new_ones((len(going), 1))], 1)
        read = model.model(
            input_ids=tokens,
            attention_mask=mask,
            position_ids=mask.sum(1, keepdim=True) - 1,
            past_key_values=read.past_key_values,
            use_cache=True,
        )


def nucleus(shares: torch.Tensor, top_p: torch.Tensor) -> torch.Tensor:
    """The likeliest tokens that together have `top_p`, each with its share."""
    if bool((top_p >= 1).all()):
        return shares
    ordered, order = shares.sort(-1, descending=True)
    ordered[ordered.cumsum(-1) - ordered >= top_p] = 0
    return torch.zeros_like(shares).scatter(-1, order, ordered)


def work(model, words, waiting: "queue.Queue[Asked]", most: int) -> None:
    """Answers what waits, in batches."""
    while True:
        batch = [waiting.get()]
        try:
            while len(batch) < most:
                batch.append(waiting.get(timeout=0.05))
        except queue.Empty:
            pass
        try:
            sample(model, words, batch)
        except Exception as error:  # what asked gets the failure, and the server goes on
            for one in batch:
                one.failure = f"{type(error).__name__}: {error}"
        for one in batch:
            one.ready.set()


class JsonHandler(BaseHTTPRequestHandler):
    """Reads and sends bodies of JSON."""

    protocol_version = "HTTP/1.1"

    def read(self) -> dict:
        return json.loads(self.rfile.read(int(self.headers["Content-Length"])))

    def send(self, status: int, body: dict) -> None:
        text = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)

    def log_message(self, *_) -> None:
        pass


def continuations(prompt: list[int], count: int, parameters: dict, adapter: int = 0) -> list[Asked]:
    """`count` continuations of a prompt under an adapter, each with draws of its own."""
    stop = parameters.get("stop") or []
    return [
        Asked(
            prompt=prompt,
            most=parameters["max_tokens"],
            temperature=parameters.get("temperature", 1),
            top_p=parameters.get("top_p", 1),
            seed=((parameters.get("seed") or 0) + 7919 * at) % 2**63,
            stop=[stop] if isinstance(stop, str) else stop,
            adapter=adapter,
        )
        for at in range(count)
    ]


def handler(name: str, context: int, waiting: "queue.Queue[Asked]"):
    class Handler(JsonHandler):
        def do_GET(self) -> None:
            self.send(200, {"object": "list", "data": [{"id": name, "object": "model", "owned_by": "vllm", "max_model_len": context}]})

        def do_POST(self) -> None:
            request = self.read()
            if request.get("prompt_logprobs") is not None:
                return self.send(400, {"error": "there are no log-probabilities of prompts here"})
            if len(request["prompt"]) + request["max_tokens"] > context:
                return self.send(400, {"error": f"the prompt and max_tokens have more than {context} tokens"})
            asked = continuations(request["prompt"], request.get("n") or 1, request)
            for one in asked:
                waiting.put(one)
            for one in asked:
                one.ready.wait()
            if failure := next((one.failure for one in asked if one.failure), None):
                return self.send(500, {"error": failure})
            self.send(200, {"model": name, "choices": [choice(at, one) for at, one in enumerate(asked)]})

    return Handler


def choice(at: int, one: Asked) -> dict:
    return {
        "index": at,
        "token_ids": one.tokens,
        "finish_reason": "stop" if one.stopped else "length",
        "logprobs": {"token_logprobs": one.logprobs},
    }


class Server(ThreadingHTTPServer):
    request_queue_size = 1024
    daemon_threads = True


def load(source: Path, weights: Path, dtype: torch.dtype):
    """The model and its tokenizer, of a directory, or of a GGUF file whose weights are written to `weights`."""
    directory = dequantized(source, weights)
    model = AutoModelForCausalLM.from_pretrained(directory, dtype=dtype, attn_implementation="grouped")
    return model, AutoTokenizer.from_pretrained(directory)


def flags(port: int) -> argparse.ArgumentParser:
    """The flags that both servers have."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--model", required=True)
    parser.add_argument("--port", type=int, default=port)
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--dtype", choices=["bfloat16", "float32"], default="bfloat16")
    return parser


def serve(name: str, port: int, handler: type[JsonHandler]) -> None:
    server = Server(("127.0.0.1", port), handler)
    print(f"{name} on http://127.0.0.1:{server.server_port}", flush=True)
    server.serve_forever()


def main() -> None:
    parser = flags(8080)
    parser.add_argument("--batch", type=int, default=192)
    given = parser.parse_args()
    source = Path(given.model)
    model, words = load(source, source.parent / "weights", getattr(torch, given.dtype))
    waiting: "queue.Queue[Asked]" = queue.Queue()
    threading.Thread(target=work, args=(model.to(given.device).eval(), words, waiting, given.batch), daemon=True).start()
    serve(source.stem, given.port, handler(source.stem, model.config.max_position_embeddings, waiting))


if __name__ == "__main__":
    main()
