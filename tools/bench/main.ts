/**
 * `pnpm bench NAME`: runs one performance bench; arguments after the name are the bench's own.
 *
 * `pnpm bench --check [PART …]`: a quick version of each, compared with stored baselines; exits with 1 if a figure is worse
 * than its tolerance allows or grows faster than its work. `--update` stores the measured figures.
 */
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import * as NodeServices from "@effect/platform-node/NodeServices"
import { Console, Effect, Result, Schema } from "effect"
import { Argument, Command, Flag } from "effect/cli"
import { names as parts } from "./check/Parts.ts"
import { UsageError } from "../../apps/cli/src/Failure.ts"

const benches = {
  cohorts: "../../packages/cohorts/bench/cohorts.ts",
  core: "./core.ts",
  engine: "../../packages/engine-local/bench/engine.ts",
  fleet: "./fleet.ts",
  journal: "./journal.ts",
  memory: "./memory.ts",
  retrieval: "./retrieval.ts",
  rollout: "./rollout.ts",
  serve: "./serve.ts",
  weeks: "../../packages/serve/bench/weeks.ts"
} as const

const isBench = (name: string): name is keyof typeof benches => Object.hasOwn(benches, name)

const decodeParts = Schema.decodeUnknownResult(Schema.Array(Schema.Literals(parts)))

const runBench = Effect.fnUntraced(function* (name: string, rest: ReadonlyArray<string>) {
  if (!isBench(name))
    return yield* new UsageError({
      problem: `${JSON.stringify(name)} is not a bench; expected one of ${Object.keys(benches).join(", ")}, or --check`
    })
  process.argv.splice(2, process.argv.length, ...rest)
  yield* Effect.promise(() => import(benches[name]))
})

const runCheck = Effect.fnUntraced(function* (words: ReadonlyArray<string>, update: boolean) {
  const chosen = decodeParts(words)
  if (Result.isFailure(chosen))
    return yield* new UsageError({
      problem: `--check takes parts to check, some of ${parts.join(", ")}; got ${JSON.stringify(words.join(" "))}`
    })
  const { check } = yield* Effect.promise(() => import("./check/Check.ts"))
  yield* check({ parts: parts.filter((part) => words.length === 0 || chosen.success.includes(part)), update })
})

Command.make(
  "bench",
  {
    words: Argument.String("name").pipe(
      Argument.withDescription("The bench and its arguments; with --check the parts to check, all by default"),
      Argument.variadic()
    ),
    check: Flag.Boolean("check").pipe(
      Flag.withDescription("Compare a quick measurement of the parts with the stored baselines"),
      Flag.withDefault(false)
    ),
    update: Flag.Boolean("update").pipe(
      Flag.withDescription("With --check: store the measured figures as baselines; use an idle machine"),
      Flag.withDefault(false)
    )
  },
  Effect.fnUntraced(function* ({ check, update, words: [name = "", ...rest] }) {
    if (check) return yield* runCheck(name === "" ? [] : [name, ...rest], update)
    if (update) return yield* new UsageError({ problem: "--update requires --check" })
    yield* runBench(name, rest)
  })
).pipe(
  Command.withDescription("Measure how fast the parts of inspo are"),
  Command.withExamples([
    { command: "bench core", description: "The pure core at the paper's scale" },
    {
      command: "bench --check",
      description: "Compare the speed of every part with its baseline, and check that costs are linear"
    },
    { command: "bench --check --update", description: "Store new baselines" }
  ]),
  Command.run({ version: "0.0.0" }),
  Effect.tapErrorTag(["UsageError", "CommandFailure"], ({ message }) => Console.error(`bench: ${message}`)),
  Effect.provide(NodeServices.layer),
  NodeRuntime.runMain
)
