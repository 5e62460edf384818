/**
 * A real language model under `inspo run`, in a third-party trainer: SkyRL's Tinker server (JAX on the CPU) trains it on the gate's
 * questions of `format`, by word F1, while its instructions evolve. The same command resumes it after a stop.
 *
 *     bash research/studies/model/serve --fetch && bash test/compatibility/install
 *     npx pnpm@12 exec node research/studies/model/skyrl.ts
 *
 * Writes the weights, the files of the server, and the run in `run`. With `--serve` it only serves the model for other runs, until
 * Ctrl-C.
 */
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import * as NodeServices from "@effect/platform-node/NodeServices"
import { Presets } from "@inspo/config"
import { ClauseBank } from "@inspo/reflection"
import { Console, Effect, FileSystem, Path } from "effect"
import { Command, Flag } from "effect/cli"
import { ChildProcess } from "effect/process"
import { fileURLToPath } from "node:url"
import { freePort } from "../../../test/cli/FreePort.ts"
import * as SkyRL from "../../../test/compatibility/support/SkyRL.ts"
import { configure, format, scoring } from "../src/gate/Tasks.ts"
import { ended, writeWeights } from "./Programs.ts"

const inspo = fileURLToPath(new URL("../../../apps/cli/src/main.ts", import.meta.url))

const rows = format
  .questions({ questions: [], passages: [] }, 600, 2)
  .map(({ goldenAnswers, question }) => JSON.stringify({ question, golden_answers: goldenAnswers }))

const task = configure(format, Presets.quick)

/** Sixteen rollouts a step, of which the server trains on eight at a time. */
const config = (steps: number) => ({
  engine: { profile: "skyrl-jax", tokenizer: "weights", contextLength: 512, loraRank: 8 },
  data: { questions: "questions.jsonl" },
  seedInstruction: format.instructions[3],
  control: { clauses: ClauseBank.ofSentences(format.sentences) },
  rollout: { ...task.rollout, groupSize: 4, maxPromptTokens: 256 },
  // At the sampling temperature 1 of training, parts are too seldom at the right position to learn from in so few steps.
  reward: { ...task.reward, command: scoring("words") },
  population: { size: 4 },
  train: { batchSize: 4, miniBatch: { size: 4 }, learningRate: 2e-4, kl: "none" },
  schedule: { steps, pruneEvery: 5, evolveEvery: 10, evolveUntil: steps - 10 },
  evaluation: { questions: 32 },
  checkpoint: { every: 5 }
})

/** Programs write into the directory, and to the terminal. */
const within = (out: string) => ({ cwd: out, stdin: "inherit", stdout: "inherit", stderr: "inherit" }) as const

const serve = Effect.fn("SkyRL.serve")(function* (out: string, model: string) {
  const fs = yield* FileSystem.FileSystem
  yield* fs.makeDirectory(out, { recursive: true })
  yield* writeWeights(model, `${out}/weights`)
  return yield* Effect.acquireRelease(
    Effect.promise(async () => SkyRL.start(out, `${out}/weights`, await freePort())),
    ({ kill }) => Effect.promise(kill)
  )
})

const run = Effect.fn("SkyRL.run")(function* (out: string, model: string, steps: number) {
  const fs = yield* FileSystem.FileSystem
  const server = yield* serve(out, model)
  yield* fs.writeFileString(`${out}/questions.jsonl`, rows.join("\n"))
  yield* fs.writeFileString(`${out}/config.json`, JSON.stringify(config(steps), null, 2))
  const isBegun = yield* fs.exists(`${out}/run/journal.sqlite`)
  const args = isBegun ? ["resume", "run"] : ["run", "config.json", "--out", "run"]
  yield* ended(
    ChildProcess.make(
      process.execPath,
      [inspo, ...args, "--no-baseline", "--set", `engine.url=${server.url}`],
      within(out)
    )
  )
}, Effect.scoped)

Command.make(
  "skyrl",
  {
    steps: Flag.Int("steps").pipe(Flag.withDefault(20)),
    model: Flag.String("model").pipe(Flag.withDefault(".cache/model/SmolLM2-135M-Instruct.Q4_1.gguf")),
    out: Flag.String("out").pipe(Flag.withDefault("runs/skyrl")),
    serve: Flag.Boolean("serve").pipe(Flag.withDescription("Only serve the model, until Ctrl-C"))
  },
  Effect.fnUntraced(function* ({ model, out, serve: isServer, steps }) {
    const path = yield* Path.Path
    if (!isServer) return yield* run(path.resolve(out), path.resolve(model), steps)
    const { url } = yield* serve(path.resolve(out), path.resolve(model))
    yield* Console.log(`${url}, with the tokenizer ${path.resolve(out)}/weights`)
    return yield* Effect.never
  }, Effect.scoped)
).pipe(
  Command.withDescription("Train a real language model in SkyRL's server under `inspo run`"),
  Command.run({ version: "0.0.0" }),
  Effect.provide(NodeServices.layer),
  NodeRuntime.runMain
)
