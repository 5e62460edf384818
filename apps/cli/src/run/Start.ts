import { Clock, Effect, Option } from "effect"
import { codeHash } from "../config/CodeHash.ts"
import { loadData } from "../config/Data.ts"
import { fromInput, type Input } from "../config/Input.ts"
import * as Preflight from "../preflight/Preflight.ts"
import { introduction } from "../report/Introduction.ts"
import { claim, claimNumbered } from "../runDirectory/Claim.ts"
import { writeConfig } from "../runDirectory/ConfigFile.ts"
import { beside } from "../dashboard/Beside.ts"
import * as Trust from "../runDirectory/Trust.ts"
import * as Reporter from "../terminal/Reporter.ts"
import * as Trackers from "../tracking/Trackers.ts"
import { executeAndReport } from "./ExecuteAndReport.ts"

export interface StartInput extends Input, Trackers.TrackingInput {
  readonly out: Option.Option<string>
  readonly dashboard: boolean
  readonly quiet: boolean
}

/**
 * Starts a new run in its own directory, which is created only after the config, the data and the servers that they name were
 * checked.
 */
export const start = Effect.fn("Start.start")(function* (input: StartInput) {
  const launchedAt = yield* Clock.currentTimeMillis
  const config = yield* fromInput(input)
  const tracking = yield* Trackers.fromInput(input)
  const loaded = yield* loadData(config)
  const notes = yield* Preflight.assertReady(yield* Preflight.look(config))
  const code = yield* codeHash()
  const name = [
    input.preset,
    ...(input.method === undefined || input.method === "inspo" ? [] : [input.method]),
    ...(input.ablate ?? []).map((part) => `without-${part}`)
  ].join("-")
  const reporter = yield* Reporter.make(input)
  yield* reporter.lines(notes)
  const { directory, discard } = yield* Option.match(input.out, {
    onNone: () => claimNumbered("runs", `${name}-seed${config.randomSeed}`),
    onSome: (out) => claim(out)
  })
  yield* Trust.remember(directory, config)
  yield* writeConfig(directory, config)
  if (input.dashboard) yield* beside(directory, reporter)
  yield* executeAndReport({
    directory,
    mode: "create",
    config,
    loaded,
    code,
    launchedAt,
    lost: null,
    tracking,
    reporter,
    introduce: (profile) => introduction({ directory, config, loaded, profile }, reporter.columns),
    abandon: discard
  })
}, Effect.scoped)
