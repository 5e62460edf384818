import * as NodeServices from "@effect/platform-node/NodeServices"
import { assert, describe, it } from "@effect/vitest"
import { EventLog, type RunEvent, RunState, Strategies } from "@inspo/coevolution"
import { algorithmOf, Presets, type RunConfig } from "@inspo/config"
import { Instruction } from "@inspo/domain"
import { Journal } from "@inspo/journal"
import { Console, Effect, FileSystem, Schema } from "effect"
import { diff } from "../../src/run/Diff.ts"
import { writeConfig } from "../../src/runDirectory/ConfigFile.ts"
import { layerJournal } from "../../src/runDirectory/JournalLayer.ts"
import { JsonFlag } from "../../src/commands/handler.ts"

const id = (name: string) => Instruction.InstructionId.make(name)

const instruction = (name: string, text: string) => Instruction.make(text, { id: name })

/** A run directory with two instructions, the second of which won if the run is `finished`. */
const writeRun = Effect.fnUntraced(function* (directory: string, config: RunConfig, second: string, finished = true) {
  const fs = yield* FileSystem.FileSystem
  yield* fs.makeDirectory(directory, { recursive: true })
  yield* writeConfig(directory, config)
  const events: ReadonlyArray<RunEvent> = [
    {
      _tag: "RunStarted",
      algorithm: algorithmOf(config),
      strategies: Strategies.identities(Strategies.ofAlgorithm(config)),
      engine: "e",
      tokenizer: "e",
      data: "d",
      search: "passages",
      code: "c"
    },
    { _tag: "PopulationInitialised", instructions: [instruction("i0", "Search once."), instruction("i1", second)] },
    ...(finished ? [{ _tag: "RunFinished", best: id("i1"), unproven: null } as const] : [])
  ]
  yield* Journal.use((journal) =>
    Effect.forEach(events, (event) => EventLog.append(journal, event, RunState.unstarted))
  ).pipe(Effect.provide(layerJournal(directory, config, "create"), { local: true }))
})

const decode = Schema.decodeSync(Schema.fromJsonString(Schema.Record(Schema.String, Schema.Unknown)))

/** What `diff --json` prints. */
const compared = Effect.fnUntraced(function* (from: string, to: string) {
  const printed: Array<string> = []
  yield* diff({ from, to }).pipe(
    Effect.provideService(JsonFlag, true),
    Effect.provideService(Console.Console, { ...console, log: (text: string) => void printed.push(text) })
  )
  return decode(printed.join(""))
})

const sandbox = Effect.gen(function* () {
  const fs = yield* FileSystem.FileSystem
  const at = yield* fs.makeTempDirectoryScoped()
  const other = { ...Presets.tiny, selection: { ...Presets.tiny.selection, temperature: 1 } }
  yield* writeRun(`${at}/a`, Presets.tiny, "Search twice.")
  yield* writeRun(`${at}/b`, other, "Search thrice.")
  yield* writeRun(`${at}/c`, other, "Search.", false)
  yield* fs.writeFileString(`${at}/text`, "Search never.\n")
  return at
})

const provided = <A, E>(effect: Effect.Effect<A, E, NodeServices.NodeServices>) =>
  Effect.provide(effect, NodeServices.layer)

describe("diff", () => {
  it.effect("compares instructions by run, by id and by file", () =>
    provided(
      Effect.scoped(
        Effect.gen(function* () {
          const at = yield* sandbox
          const texts = { seed: "Search once.", a: "Search twice.", b: "Search thrice.", file: "Search never." }
          for (const [from, to, before, after] of [
            ["a:seed", "a:best", texts.seed, texts.a],
            ["a:i0", "b:i1", texts.seed, texts.b],
            ["a", "text", texts.a, texts.file],
            ["text", "b:best", texts.file, texts.b]
          ] as const)
            assert.deepInclude(yield* compared(`${at}/${from}`, `${at}/${to}`), {
              kind: "instructions",
              pieces: [
                { kind: "same", text: "Search " },
                { kind: "removed", text: before.slice(7, -1) },
                { kind: "added", text: after.slice(7, -1) },
                { kind: "same", text: "." }
              ]
            })
        })
      )
    )
  )

  it.effect("says what it cannot compare", () =>
    provided(
      Effect.scoped(
        Effect.gen(function* () {
          const at = yield* sandbox
          for (const [from, told] of [
            ["a:i7", "expected seed, best or one of i0, i1"],
            ["c:best", "is not finished"],
            ["c", "is not finished"],
            ["nowhere", "neither the directory of a run"]
          ] as const)
            assert.include((yield* Effect.flip(compared(`${at}/${from}`, `${at}/text`))).message, told)
        })
      )
    )
  )
})
