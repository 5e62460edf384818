/**
 * What a policy does without its instruction, before and after `inspo export --internalize`, on the embedded engine:
 *
 *     npx pnpm@12 exec node research/studies/model/internalize.ts --seeds 1-10 --updates 240
 *
 * Each seed is a run of the preset `quick`, or with `--runs` one that is there, such as those of research/docs/real-model.md on a server:
 *
 *     npx pnpm@12 exec node research/studies/model/internalize.ts --seeds 11-20 --updates 20 --set engine.url=http://127.0.0.1:8001 \
 *       --runs runs/letter/seed-{seed}/letter-searching/letter-searching/seed-{seed}
 *
 * Finished runs and exports are in `--out`, and are not repeated.
 */
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import * as NodeServices from "@effect/platform-node/NodeServices"
import { Markdown } from "@inspo/report"
import { Array as Arr, Console, Effect, FileSystem, Option } from "effect"
import { Command, Flag } from "effect/cli"
import { estimated, points } from "../src/Format.ts"
import { parseSeeds } from "../src/Seeds.ts"
import { ended, inspo, setFlags } from "./Programs.ts"

interface Manifest {
  readonly internalized: {
    readonly instruction: { readonly id: string }
    readonly rollouts: number
    readonly cells: ReadonlyArray<{
      readonly policy: "before" | "after"
      readonly instruction: string
      readonly mean: number
    }>
  }
}

interface Options {
  readonly updates: number
  readonly runs: Option.Option<string>
  readonly set: ReadonlyArray<string>
  readonly out: string
}

const one = Effect.fn("Internalize.one")(function* (seed: number, { out, runs, set, updates }: Options) {
  const fs = yield* FileSystem.FileSystem
  const run = Option.getOrElse(runs, () => `${out}/seed-{seed}/run`).replaceAll("{seed}", `${seed}`)
  const deployed = `${out}/seed-${seed}/updates-${updates}`
  if (Option.isNone(runs) && !(yield* fs.exists(`${run}/outcome.json`)))
    yield* ended(
      inspo(["run", "--preset", "quick", "--seed", `${seed}`, "--no-baseline", "--quiet", "--out", run], "inherit")
    )
  if (!(yield* fs.exists(`${deployed}/manifest.json`)))
    yield* ended(inspo(["export", run, "--out", deployed, "--internalize", `${updates}`, ...setFlags(set)], "inherit"))
  const { internalized }: Manifest = JSON.parse(yield* fs.readFileString(`${deployed}/manifest.json`))
  const mean = (policy: "before" | "after", isBest: boolean) => {
    const found = internalized.cells.find(
      (cell) => cell.policy === policy && (cell.instruction === internalized.instruction.id) === isBest
    )
    return found?.mean ?? NaN
  }
  return {
    seed,
    rollouts: internalized.rollouts,
    values: [mean("before", true), mean("before", false), mean("after", false), mean("after", true)]
  }
})

Command.make(
  "internalize",
  {
    seeds: Flag.String("seeds").pipe(Flag.withDefault("1-10")),
    updates: Flag.Int("updates").pipe(Flag.withDefault(120)),
    runs: Flag.String("runs").pipe(Flag.optional),
    set: Flag.String("set").pipe(Flag.atLeast(0)),
    out: Flag.String("out").pipe(Flag.withDefault("runs/internalize"))
  },
  Effect.fnUntraced(function* ({ seeds, ...options }) {
    const found = yield* Effect.forEach(yield* Effect.fromResult(parseSeeds("--seeds", seeds)), (seed) =>
      one(seed, options)
    )
    const column = (place: number) => found.map(({ values }) => values[place] ?? NaN)
    const difference = (a: number, b: number) =>
      estimated(
        Arr.zipWith(column(a), column(b), (left, right) => left - right),
        points
      )
    const lines = Markdown.table([
      [
        "seed",
        "best instruction",
        "seed instruction",
        "internalized: seed instruction",
        "best instruction",
        "rollouts"
      ],
      ...found.map(({ rollouts, seed, values }) => [`${seed}`, ...values.map(points), `${rollouts}`]),
      ["mean", ...[0, 1, 2, 3].map((place) => estimated(column(place), points)), ""]
    ])
    yield* Console.log(
      [
        ...lines,
        "",
        `Under the seed instruction: ${difference(2, 1)}. Without it after, against with it before: ${difference(2, 0)}.`
      ].join("\n")
    )
  }, Effect.scoped)
).pipe(
  Command.withDescription("What a policy does without its instruction"),
  Command.run({ version: "0.0.0" }),
  Effect.provide(NodeServices.layer),
  NodeRuntime.runMain
)
