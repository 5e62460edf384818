/** @module-tag deep */
import { rmSync, symlinkSync } from "node:fs"
import { join } from "node:path"
import { setFlagsFromString } from "node:v8"
import { runInNewContext } from "node:vm"
import * as NodeServices from "@effect/platform-node/NodeServices"
import { assert, describe, it } from "@effect/vitest"
import type { RunEvent } from "@inspo/coevolution"
import type { RunConfig } from "@inspo/config"
import type { EngineProfile } from "@inspo/engine"
import { Cause, Effect, Exit, FileSystem, Option } from "effect"
import { tinyRun, writeTinyModel } from "../../../../test/cli/TinyModel.ts"
import { loadData } from "../../src/config/Data.ts"
import { fromInput } from "../../src/config/Input.ts"
import { CommandFailure } from "../../src/Failure.ts"
import { execute, type OnEvent } from "../../src/run/Execute.ts"
import { filesOf } from "../../src/runDirectory/Files.ts"

/** The settings of the shortest run there is, on the model of `folder`. */
const configIn = (folder: string) =>
  fromInput({
    preset: "quick",
    file: Option.none(),
    seed: Option.none(),
    set: [...tinyRun.filter((word) => word !== "--set"), `engine.model=${folder}/model`, "evaluation.questions=0"]
  })

/** One session of a run in `directory`, with what is done after each event. */
const sessionIn = Effect.fnUntraced(function* (
  config: RunConfig,
  directory: string,
  mode: "create" | "open",
  onEvent: (event: RunEvent) => Effect.Effect<void> = () => Effect.void,
  onPast: (past: ReadonlyArray<RunEvent>) => void = () => undefined
) {
  const loaded = yield* loadData(config)
  const follow = (_: EngineProfile, past: ReadonlyArray<RunEvent>): Effect.Effect<OnEvent> =>
    Effect.as(
      Effect.sync(() => onPast(past)),
      onEvent
    )
  return yield* execute({ directory, mode, config, loaded, code: "code", launchedAt: 0, lost: null, follow })
})

const projections = Effect.fnUntraced(function* (directory: string) {
  const fs = yield* FileSystem.FileSystem
  const { candidates, metrics, traces } = filesOf(directory)
  return yield* Effect.forEach([candidates, metrics, traces], (file) => fs.readFileString(file))
})

setFlagsFromString("--expose-gc")
const collectGarbage = runInNewContext("gc") as () => void

/** Nobody holds the event any more: what a session keeps of its events would fill the memory of a long one. */
const assertForgotten = Effect.fnUntraced(function* (event: WeakRef<RunEvent> | undefined) {
  assert.isDefined(event)
  yield* Effect.sleep("10 millis")
  collectGarbage()
  assert.isUndefined(event.deref())
})

describe("a session", () => {
  it.live("that fails keeps why, names the file it could not write, and the next one makes its files whole", () =>
    Effect.gen(function* () {
      const fs = yield* FileSystem.FileSystem
      const folder = yield* fs.makeTempDirectoryScoped()
      yield* writeTinyModel(join(folder, "model"))
      const config = yield* configIn(folder)
      const [whole, broken] = yield* Effect.forEach(["whole", "broken"], (name) =>
        Effect.as(fs.makeDirectory(join(folder, name)), join(folder, name))
      )
      assert(whole !== undefined && broken !== undefined)
      let first: WeakRef<RunEvent> | undefined
      yield* sessionIn(config, whole, "create", (event) =>
        Effect.gen(function* () {
          if (event._tag !== "StepTrained") return
          if (event.step === 1) first = new WeakRef(event)
          if (event.step === 3) yield* assertForgotten(first)
        })
      )
      const { errors, timings } = filesOf(broken)

      // A file that is none from the second plan on.
      const refused = yield* Effect.flip(
        sessionIn(config, broken, "create", (event) =>
          Effect.sync(() => {
            if (event._tag !== "StepPlanned" || event.step !== 2) return
            rmSync(timings)
            symlinkSync("/dev/full", timings)
          })
        )
      )
      assert(refused instanceof CommandFailure)
      assert.strictEqual(refused.message, `${timings} cannot be written (it is a device; expected a regular file).`)

      rmSync(timings)
      const bug = new TypeError("no such field")
      const died = yield* Effect.exit(
        sessionIn(config, broken, "open", (event) => (event._tag === "StepPlanned" ? Effect.die(bug) : Effect.void))
      )
      assert(Exit.isFailure(died))
      assert.strictEqual(Cause.squash(died.cause), bug)
      const kept = yield* fs.readFileString(errors)
      assert.match(kept, /cannot be written[^]*cause[^]*it is a device[^]*TypeError: no such field\n +at /u)

      let past: WeakRef<RunEvent> | undefined
      yield* sessionIn(
        config,
        broken,
        "open",
        (event) => (event._tag === "StepTrained" ? assertForgotten(past) : Effect.void),
        (events) => {
          const [, initialised] = events
          if (initialised !== undefined) past = new WeakRef(initialised)
        }
      )
      assert.deepStrictEqual(yield* projections(broken), yield* projections(whole))
    }).pipe(Effect.scoped, Effect.provide(NodeServices.layer))
  )
})
