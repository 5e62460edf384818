import { rmSync, symlinkSync } from "node:fs"
import { join } from "node:path"
import { setFlagsFromString } from "node:v8"
import { runInNewContext } from "node:vm"
import { NodeServices } from "@effect/platform-node"
import { assert, describe, it } from "@effect/vitest"
import type { RunConfig, RunEvent } from "@inspo/coevolution"
import { Cause, Effect, Exit, FileSystem, Option } from "effect"
import { tinyRun, writeTinyModel } from "../../../../test/cli/TinyModel.ts"
import { loadData } from "../../src/config/Data.ts"
import { fromInput } from "../../src/config/Input.ts"
import { CommandFailure } from "../../src/Failure.ts"
import { type OnEvent, session } from "../../src/run/Session.ts"
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
  onEvent: (event: RunEvent) => Effect.Effect<void> = () => Effect.void
) {
  const loaded = yield* loadData(config)
  const follow = (): Effect.Effect<OnEvent> => Effect.succeed(onEvent)
  return yield* session({ directory, mode, config, loaded, code: "code", launchedAt: 0, lost: null, follow })
})

const projections = Effect.fnUntraced(function* (directory: string) {
  const fs = yield* FileSystem.FileSystem
  const { candidates, metrics, traces } = filesOf(directory)
  return yield* Effect.forEach([candidates, metrics, traces], (file) => fs.readFileString(file))
})

setFlagsFromString("--expose-gc")
const collectGarbage = runInNewContext("gc") as () => void

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
          if (event.step !== 3) return
          // What a session keeps of its events would fill the memory of a long one.
          yield* Effect.sleep("10 millis")
          collectGarbage()
          assert.isUndefined(first?.deref())
        })
      )
      const { errors, metrics } = filesOf(broken)

      // A disk that is full from the second plan on.
      const full = yield* Effect.flip(
        sessionIn(config, broken, "create", (event) =>
          Effect.sync(() => {
            if (event._tag !== "StepPlanned" || event.step !== 2) return
            rmSync(metrics)
            symlinkSync("/dev/full", metrics)
          })
        )
      )
      assert(full instanceof CommandFailure)
      assert.strictEqual(
        full.message,
        `${metrics} cannot be written (ENOSPC: no space left on device). The disk is full: make room there and try again; ` +
          "a run that has begun goes on with `inspo resume`."
      )

      const bug = new TypeError("no such field")
      const died = yield* Effect.exit(
        sessionIn(config, broken, "open", (event) => (event._tag === "StepPlanned" ? Effect.die(bug) : Effect.void))
      )
      assert(Exit.isFailure(died))
      assert.strictEqual(Cause.squash(died.cause), bug)
      const kept = yield* fs.readFileString(errors)
      assert.match(kept, /cannot be written[^]*cause[^]*ENOSPC[^]*TypeError: no such field\n +at /u)

      yield* sessionIn(config, broken, "open")
      assert.deepStrictEqual(yield* projections(broken), yield* projections(whole))
    }).pipe(Effect.scoped, Effect.provide(NodeServices.layer))
  )
})
