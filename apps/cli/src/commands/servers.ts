/** The verbs around servers of a retriever and of an engine. */
import { Command, Flag } from "effect/cli"
import * as flags from "./flags.ts"
import { handler } from "./handler.ts"

const serveCorpus = Command.make(
  "serve",
  {
    corpus: flags.argument("corpus", 'JSON lines of {"id", "contents"}, the title on the first line of contents'),
    ...flags.address(8000, "Authorization: Bearer KEY"),
    index: flags.optionalText("index", "FILE", "File of the index; CORPUS.bm25 by default"),
    topk: flags.integer("topk", "Documents per query if a request gives no number").pipe(Flag.withDefault(3)),
    json: flags.json,
    quiet: flags.quiet
  },
  handler(async () => (await import("../retriever/Serve.ts")).serve)
).pipe(
  flags.help({
    short: "Serve a corpus over the /retrieve protocol",
    description:
      "Serve a corpus to any client of Search-R1's POST /retrieve, until Ctrl-C. The index is built the first time and " +
      "after the corpus has changed",
    examples: {
      "inspo retriever serve corpus.jsonl": "On http://127.0.0.1:8000/retrieve",
      "inspo run --set retrieval.url=http://127.0.0.1:8000 --set data.questions=train.parquet":
        "A run that searches there"
    }
  })
)

export const retriever = Command.make("retriever").pipe(
  Command.withDescription("Search in a corpus of your own"),
  Command.withSubcommands([serveCorpus])
)

const serveEngine = Command.make(
  "serve",
  {
    ...flags.address(8765, "X-API-Key"),
    name: flags
      .text("name", "NAME", "Name of the base model that clients ask for")
      .pipe(Flag.withDefault("inspo-tiny")),
    model: flags.optionalText("model", "DIR", "Folder of an embedded model; by default the shipped one"),
    checkpoints: flags
      .text("checkpoints", "DIR", "Directory of the checkpoints that clients save; they remain when the server stops")
      .pipe(Flag.withDefault("engine-checkpoints")),
    gateway: flags.optionalText(
      "gateway",
      "URL",
      "Serve no engine but agents, beside the gateway of the run at URL, which has --agent :PORT and an engine.url"
    ),
    json: flags.json
  },
  handler(async () => (await import("../engine/Serve.ts")).serve)
).pipe(
  flags.help({
    short: "Serve the embedded engine over the Tinker protocol",
    description:
      "Serve the embedded engine to any client of the Tinker protocol, until Ctrl-C. Saved checkpoints remain when the " +
      "server stops, live models do not",
    examples: {
      "inspo engine serve": "On http://127.0.0.1:8765",
      "inspo run --set engine.url=http://127.0.0.1:8765 --set train.kl=advantages": "A run that trains there"
    }
  })
)

const check = Command.make(
  "check",
  {
    url: flags.argument("url", "Base URL of the server, before /api/v1"),
    model: flags.optionalText("model", "NAME", "Base model to check; the server's first by default"),
    protocol: flags
      .choice(
        "protocol",
        ["tinker", "completions"],
        "tinker samples and trains; completions, as of vLLM, SGLang and llama.cpp, only samples"
      )
      .pipe(Flag.withDefault("tinker")),
    profile: flags
      .choice(
        "profile",
        ["auto", "inspo", "tinker", "skyrl-jax", "skyrl-train", "verl"],
        "Kind of server; auto detects it"
      )
      .pipe(Flag.withDefault("auto")),
    encoding: flags
      .choice("encoding", ["auto", "json", "protobuf"], "How samples and gradients are encoded")
      .pipe(Flag.withDefault("auto")),
    tokenizer: flags.optionalText(
      "tokenizer",
      "PATH",
      "Folder with the model's tokenizer.json, or its GGUF file; the embedded model's for `inspo engine serve`"
    ),
    contextLength: flags.optionalInteger(
      "context-length",
      "Tokens of prompt and response together, if the server does not report it"
    ),
    loraRank: flags.optionalInteger(
      "lora-rank",
      "Rank of the LoRA adapter that the run will use: 0 for all parameters; 32 by default"
    ),
    concurrency: flags.optionalInteger("concurrency", "Concurrent requests; by default the server's limit"),
    apiKeyEnv: flags.optionalText("api-key-env", "NAME", "Environment variable with the server's key"),
    tolerance: flags
      .number("tolerance", "Largest difference between log-probabilities that should be equal")
      .pipe(Flag.withDefault(1e-5)),
    json: flags.json
  },
  handler(async () => (await import("../engine/Check.ts")).check)
).pipe(
  flags.help({
    short: "Check a server of the Tinker protocol",
    description:
      "Check a server of the Tinker protocol, or one that samples over completions: how it differs from others, and whether " +
      "it satisfies every law of an engine. If the server trains, the check trains a few steps on a model of its own",
    examples: { "inspo engine check http://127.0.0.1:8765": "A line per law" }
  })
)

export const engine = Command.make("engine").pipe(
  Command.withDescription("Serve an engine, or check one that is served"),
  Command.withSubcommands([serveEngine, check])
)
