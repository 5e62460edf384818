import { Argument, Command, Flag } from "effect/cli"
import * as flags from "./flags.ts"
import { handler } from "./handler.ts"

const protocol = Flag.Literals("protocol", ["tinker", "completions"]).pipe(
  Flag.withDescription("tinker samples and trains; completions, as of vLLM, SGLang and llama.cpp, only samples"),
  Flag.withDefault("tinker")
)

const serve = Command.make(
  "serve",
  {
    ...flags.address(8765, "X-API-Key, or as Authorization: Bearer with completions"),
    name: Flag.String("name").pipe(
      Flag.withMetavar("NAME"),
      Flag.withDescription("Name of the base model that clients ask for"),
      Flag.withDefault("inspo-tiny")
    ),
    protocol,
    model: Flag.String("model").pipe(
      Flag.withMetavar("DIR"),
      Flag.withDescription("Folder of an embedded model; the one that ships by default"),
      Flag.optional
    ),
    checkpoints: Flag.String("checkpoints").pipe(
      Flag.withMetavar("DIR"),
      Flag.withDescription("Directory of what clients save, kept from one start to the next"),
      Flag.withDefault("engine-checkpoints")
    ),
    json: flags.json
  },
  (input) =>
    handler(
      () => import("../engine/Serve.ts"),
      ({ serve }) => serve(input)
    )
).pipe(
  Command.withDescription(
    "Serve the embedded engine to any client of the Tinker protocol, or of completions with token ids, until Ctrl-C. Saved checkpoints outlive the server, " +
      "live models do not"
  ),
  Command.withShortDescription("Serve the embedded engine over the Tinker protocol"),
  Command.withExamples([
    { command: "inspo engine serve", description: "On http://127.0.0.1:8765" },
    {
      command: "inspo run --set engine.url=http://127.0.0.1:8765 --set train.kl=advantages",
      description: "A run that trains there"
    }
  ])
)

const check = Command.make(
  "check",
  {
    url: Argument.String("url").pipe(Argument.withDescription("Base URL of the server, before /api/v1")),
    model: Flag.String("model").pipe(
      Flag.withMetavar("NAME"),
      Flag.withDescription("Base model to check; the server's first by default"),
      Flag.optional
    ),
    protocol,
    profile: Flag.Literals("profile", ["auto", "inspo", "tinker", "skyrl-jax", "skyrl-train", "verl"]).pipe(
      Flag.withDescription("Which server it is; auto asks it"),
      Flag.withDefault("auto")
    ),
    encoding: Flag.Literals("encoding", ["auto", "json", "protobuf"]).pipe(
      Flag.withDescription("How samples and gradients travel"),
      Flag.withDefault("auto")
    ),
    tokenizer: Flag.String("tokenizer").pipe(
      Flag.withMetavar("PATH"),
      Flag.withDescription(
        "Folder with the model's tokenizer.json, or its GGUF file; the embedded model's for `inspo engine serve`"
      ),
      Flag.optional
    ),
    contextLength: Flag.Int("context-length").pipe(
      Flag.withMetavar("N"),
      Flag.withDescription("Tokens of prompt and response together, where the server does not tell"),
      Flag.optional
    ),
    loraRank: Flag.Int("lora-rank").pipe(
      Flag.withMetavar("N"),
      Flag.withDescription("Rank of the LoRA adapter, as the run will ask for it: 0 for all parameters; 32 by default"),
      Flag.optional
    ),
    concurrency: Flag.Int("concurrency").pipe(
      Flag.withMetavar("N"),
      Flag.withDescription("Requests in flight at once; as the server says by default"),
      Flag.optional
    ),
    apiKeyEnv: Flag.String("api-key-env").pipe(
      Flag.withMetavar("NAME"),
      Flag.withDescription("Environment variable with the server's key"),
      Flag.optional
    ),
    tolerance: Flag.Finite("tolerance").pipe(
      Flag.withMetavar("X"),
      Flag.withDescription("Largest difference between log-probabilities that should be equal"),
      Flag.withDefault(1e-5)
    ),
    json: flags.json
  },
  (input) =>
    handler(
      () => import("../engine/Check.ts"),
      ({ check }) => check(input)
    )
).pipe(
  Command.withDescription(
    "Check a server of the Tinker protocol, or one that samples over completions: how it differs from others, and whether " +
      "it holds to every law of an engine. Where the server trains, it trains a few steps on a model of its own"
  ),
  Command.withShortDescription("Check a server of the Tinker protocol"),
  Command.withExamples([{ command: "inspo engine check http://127.0.0.1:8765", description: "A line per law" }])
)

export const engine = Command.make("engine").pipe(
  Command.withDescription("Serve an engine, or check one that is served"),
  Command.withSubcommands([serve, check])
)
