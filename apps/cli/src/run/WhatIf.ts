import { Strategies } from "@inspo/coevolution"
import { WhatIf } from "@inspo/analysis"
import type { RunConfig } from "@inspo/config"
import { Array as Arr, Effect, Result } from "effect"
import { orUsage } from "../config/Input.ts"
import { leafPaths, parseSet, resolve, valueAt } from "../config/Resolve.ts"
import { type UsageError, usageError } from "../Failure.ts"
import { answerLines, type Asked, gridLines } from "../report/WhatIfReport.ts"
import { readRun } from "../runDirectory/Read.ts"
import * as Stored from "../serve/StoredPopulations.ts"
import * as Reporter from "../terminal/Reporter.ts"
import { replay } from "./Replay.ts"

export interface WhatIfInput {
  readonly directory: string
  readonly set: ReadonlyArray<string>
  readonly grid: ReadonlyArray<string>
}

export const play = Effect.fnUntraced(function* (input: WhatIfInput) {
  const place = yield* Stored.findOne(input.directory)
  if (place !== null) {
    const module = yield* Effect.promise(() => import("../serve/Replay.ts"))
    return yield* module.play(place, input)
  }
  return yield* input.set.length + input.grid.length === 0 ? replay(input) : whatif(input)
})

/** Refolds the logged rewards of a finished run under other settings; the run is not changed. */
const whatif = Effect.fn("WhatIf.whatif")(function* (input: WhatIfInput) {
  const { directory } = input
  const { config, events } = yield* readRun(directory)
  const points = yield* Effect.forEach(combinations(yield* axes(input.grid)), (point) =>
    settingsOf(config, [...input.set, ...point])
  )
  const opened = yield* Effect.fromResult(WhatIf.open(Strategies.deciding(config), events))
  const asked = points.map(({ config: wanted, settings }): Asked => ({
    settings,
    answer: WhatIf.ask(opened, Strategies.deciding(wanted))
  }))

  const [only] = asked
  if (only === undefined || input.grid.length > 0)
    return yield* Reporter.print({ runDir: directory, policyPath, grid: asked.map(gridEntry) }, (columns) =>
      gridLines(asked, columns)
    )
  const { answer, settings } = only
  const found = yield* Effect.fromResult(answer)
  return yield* Reporter.print({ runDir: directory, settings, policyPath, ...found }, (columns) =>
    answerLines(settings, found, columns)
  )
})

/** What is fixed in every answer: policy, rollouts and candidates are those of the log. */
const policyPath = "fixed"

const gridEntry = ({ answer, settings }: Asked) =>
  Result.match(answer, {
    onSuccess: (found) => ({ settings, ...found, refused: null }),
    onFailure: ({ message }) => ({ settings, refused: message })
  })

/** The config of the run with some settings changed, and what they are changed to; a log must be able to answer for all of them. */
const settingsOf = Effect.fnUntraced(function* (base: RunConfig, set: ReadonlyArray<string>) {
  const overrides = yield* orUsage(Result.all(set.map(parseSet)))
  const config = yield* orUsage(resolve(base, overrides))
  const names = Arr.dedupe(overrides.flatMap((override) => leafPaths(override)))
  const fixed = names.find((name) => !WhatIf.isAnswerable(name))
  if (fixed !== undefined)
    return yield* usageError(
      `${fixed} cannot be answered from a log, which holds the rewards of one policy path; expected one of ` +
        `${leafPaths(base).filter(WhatIf.isAnswerable).join(", ")}. Start a run to measure the effect of other settings.`
    )
  return { config, settings: Object.fromEntries(names.map((name) => [name, valueAt(config, name)])) }
})

/** The values of each `KEY=V1,V2`, as settings of one value each. */
const axes = (grid: ReadonlyArray<string>): Effect.Effect<ReadonlyArray<ReadonlyArray<string>>, UsageError> =>
  Effect.forEach(grid, (text) => {
    const [, key, values] = /^([^=]+)=(.+)$/u.exec(text) ?? []
    return key === undefined || values === undefined
      ? Effect.fail(
          usageError(`--grid is ${JSON.stringify(text)}, expected KEY=V1,V2,… such as schedule.pruneEvery=3,5,15.`)
        )
      : Effect.succeed(values.split(",").map((value) => `${key}=${value}`))
  })

/** Every way to take one element of each list; one empty way when there are no lists. */
const combinations = (lists: ReadonlyArray<ReadonlyArray<string>>): ReadonlyArray<ReadonlyArray<string>> =>
  lists.reduce<ReadonlyArray<ReadonlyArray<string>>>(
    (ways, list) => ways.flatMap((way) => list.map((element) => [...way, element])),
    [[]]
  )
