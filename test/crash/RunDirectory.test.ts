import { cp, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { DatabaseSync } from "node:sqlite"
import * as NodeServices from "@effect/platform-node/NodeServices"
import { ModelFolder } from "@inspo/engine-local"
import { Ledger } from "@inspo/ledger"
import { Journal } from "@inspo/journal"
import { Effect, Option, Schedule } from "effect"
import { afterAll, assert, beforeAll, describe, it, vi } from "vitest"
import { remedy } from "../../apps/cli/src/Failure.ts"
import { exportRun } from "../../apps/cli/src/run/Export.ts"
import { replay } from "../../apps/cli/src/run/Replay.ts"
import { resume } from "../../apps/cli/src/run/Resume.ts"
import { show } from "../../apps/cli/src/run/Show.ts"
import { layerJournal } from "../../apps/cli/src/runDirectory/JournalLayer.ts"
import { readRun, withJournal } from "../../apps/cli/src/runDirectory/Read.ts"
import { JsonFlag } from "../../apps/cli/src/commands/handler.ts"
import { start, undisturbedRun } from "./support/Chain.ts"
import { outcomeOf, type Outcome } from "./support/Outcome.ts"
import { endAll, inspo } from "./support/Program.ts"

let cwd = ""
let whole: Outcome

const at = (name: string) => join(cwd, name)
const run = <A, E>(effect: Effect.Effect<A, E, NodeServices.NodeServices>): Promise<A> =>
  Effect.runPromise(effect.pipe(Effect.provideService(JsonFlag, true), Effect.provide(NodeServices.layer)))
const quietly = {
  quiet: true,
  baseline: Option.some(false),
  acceptLost: false,
  set: [],
  track: []
}

/** A run that ends in its middle. */
const killed = async (name: string) => {
  const ended = await inspo(start(name), cwd, { at: "event:PopulationRefilled" })
  assert.isTrue(ended.killed)
}

beforeAll(async () => {
  vi.spyOn(console, "log").mockImplementation(() => {})
  vi.spyOn(console, "error").mockImplementation(() => {})
  cwd = await mkdtemp(join(tmpdir(), "inspo-directory-"))
  const finished = await inspo(start("whole"), cwd)
  assert.strictEqual(finished.code, 0, finished.stderr)
  whole = await outcomeOf(at("whole"))
}, 120_000)

afterAll(async () => {
  vi.restoreAllMocks()
  endAll()
  await rm(cwd, { recursive: true, force: true })
})

describe("replay", { timeout: 120_000, tags: "runs" }, () => {
  it("gives every event and state of a run again with all sockets blocked", async () => {
    const blocked = new URL("support/noSockets.ts", import.meta.url)
    const finished = await inspo(["replay", "whole", "--json"], cwd, undefined, blocked)
    assert.strictEqual(finished.code, 0, finished.stderr)
    const told = JSON.parse(finished.stdout)
    assert.strictEqual(told.ok, true)
    assert.strictEqual(told.events, whole.events.length)
    assert.deepStrictEqual(told.hashes, { equal: whole.events.length, other: 0 })
    assert.strictEqual(told.stateHash, whole.stateHash)
  })
})

describe("a resumed run", { timeout: 120_000, tags: "runs" }, () => {
  it("keeps what was asked for at its start, and takes other settings that decide no results", async () => {
    await killed("moved")
    const continueRun = (...set: ReadonlyArray<string>) =>
      resume({ ...quietly, directory: at("moved"), baseline: Option.none(), set })
    const refused = await run(Effect.flip(continueRun("train.loss.high=0.3")))
    assert.include(refused.message, "train.loss.high is 0.3, but was 0.2 when the run began")
    assert.include(refused.message, "engine.concurrency")
    await run(continueRun("engine.concurrency=1", "requests.timeoutSeconds=9"))
    const { config } = await run(readRun(at("moved")))
    assert.deepStrictEqual([config.engine.concurrency, config.requests.timeoutSeconds], [1, 9])
    const moved = await outcomeOf(at("moved"))
    assert.deepStrictEqual({ ...moved, events: [], traces: "" }, { ...whole, events: [], traces: "" })
    // The run was started with --no-baseline.
    assert.include(await readFile(join(at("moved"), "outcome.json"), "utf8"), '"baseline":null')
  })
})

describe("an export", { timeout: 120_000, tags: "runs" }, () => {
  it("holds the trained policy as a model and the best instruction", async () => {
    await run(exportRun({ directory: at("whole"), out: at("deployed"), internalize: Option.none(), set: [] }))
    const model = await run(ModelFolder.read(join(at("deployed"), "model")))
    assert.isAbove(model.parameters.length, 0)
    assert.strictEqual(await readFile(join(at("deployed"), "instruction.txt"), "utf8"), whole.bestInstruction)
  })

  it("internalizes the best instruction: another policy, with the seed instruction to deploy", async () => {
    const evolved = await undisturbedRun(cwd, "evolved", "selection.instruction=best", "randomSeed=2")
    const checkpoints = await readdir(at("evolved/checkpoints"))
    const deployed = async (out: string, internalize: Option.Option<number>) => {
      await run(
        exportRun({ directory: at("evolved"), out: at(out), internalize, clauses: Option.isSome(internalize), set: [] })
      )
      const text = await readFile(join(at(out), "instruction.txt"), "utf8")
      return { text, ...JSON.parse(await readFile(join(at(out), "manifest.json"), "utf8")) }
    }
    const before = await deployed("with", Option.none())
    const after = await deployed("without", Option.some(4))
    assert.strictEqual(before.text, evolved.bestInstruction)
    assert.strictEqual(`${after.internalized.instruction.text}\n`, evolved.bestInstruction)
    assert.notStrictEqual(after.text, before.text)
    assert.strictEqual(`${after.instruction.text}\n`, after.text)
    assert.strictEqual(after.instruction.id, "i0")
    assert.notStrictEqual(after.policy.hash, before.policy.hash)
    assert.isAbove(after.internalized.likelihood.last, after.internalized.likelihood.first)
    assert.lengthOf(after.internalized.cells, 4)
    assert.isAbove(after.internalized.texts, 0)
    assert.isAbove((await run(ModelFolder.read(join(at("without"), "model")))).parameters.length, 0)
    assert.deepStrictEqual(await readdir(at("evolved/checkpoints")), checkpoints)
  })

  it.each([
    ["no update", { internalize: Option.some(0), set: [] }, "--internalize is 0"],
    ["a chat model", { internalize: Option.some(1), set: ["policy.model=openai:gpt-4o"] }, "policy.model"]
  ] as const)("internalizes nothing with %s, and leaves nothing behind", async (_, input, problem) => {
    const error = await run(Effect.flip(exportRun({ directory: at("whole"), out: at("refused"), ...input })))
    assert.include(error.message, problem)
    assert.notInclude(await readdir(cwd), "refused")
  })

  it("is another engine for a run that began with the model before, which keeps its config", async () => {
    await killed("kept")
    const before = await readFile(join(at("kept"), "config.json"), "utf8")
    const set = [`engine.model=${join(at("deployed"), "model")}`]
    const refused = await run(Effect.flip(resume({ ...quietly, directory: at("kept"), baseline: Option.none(), set })))
    assert.include(refused.message, "the engine is not the one that the run began with")
    assert.strictEqual(await readFile(join(at("kept"), "config.json"), "utf8"), before)
  })
})

describe("a run directory of another version", { timeout: 120_000, tags: "runs" }, () => {
  it("is refused with the setting, its value, what is expected and the remedy", async () => {
    const other = at("other")
    await cp(at("whole"), other, { recursive: true })
    const config: { readonly schedule: object } = JSON.parse(await readFile(join(other, "config.json"), "utf8"))
    await writeFile(
      join(other, "config.json"),
      JSON.stringify({ ...config, schedule: { ...config.schedule, steps: "many" } })
    )
    for (const refused of [
      run(Effect.flip(show(other))),
      run(Effect.flip(resume({ ...quietly, directory: other }))),
      run(Effect.flip(replay({ directory: other })))
    ])
      assert.match(
        (await refused).message,
        /schedule\.steps is "many"; expected .+\. Start the run again, or use the version of inspo that wrote it/u
      )
  })
})

describe("a damaged journal", { timeout: 120_000, tags: "runs" }, () => {
  it("is named with its place", async () => {
    const damaged = at("damaged")
    await cp(at("whole"), damaged, { recursive: true })
    const place = whole.events.findIndex((event) => event._tag === "StepPlanned" && event.step === 4)
    using database = new DatabaseSync(join(damaged, "journal.sqlite"))
    database.prepare("UPDATE events SET payload = '{}' WHERE sequence = ?").run(place)
    const problem = await run(Effect.flip(show(damaged)))
    assert.include(problem.message, `event ${place}`)
    assert.include(remedy(problem), "Restore the journal from a backup")
  })
})

describe("a journal whose end is lost", { timeout: 120_000, tags: "runs" }, () => {
  const ledger = async (name: string) => {
    const { config } = await run(readRun(at(name)))
    return Ledger.summarize(await run(withJournal(at(name), config, (journal) => journal.ledger))).total
  }

  it("keeps its run from going on, names what tells of it, and goes on to the same end once that is accepted", async () => {
    await killed("cut")
    const before = await ledger("cut")
    const journal = (name: string, suffix = "") => join(at(name), `journal.sqlite${suffix}`)
    const losses: Readonly<Record<string, (name: string) => Promise<void>>> = {
      "a deleted log": (name) => rm(journal(name, "-wal")),
      "a flipped bit": async (name) => {
        const log = await readFile(journal(name, "-wal"))
        const place = Math.floor(log.length / 2)
        log[place] = (log[place] ?? 0) ^ 1
        await writeFile(journal(name, "-wal"), log)
        await rm(journal(name, "-shm"))
      },
      "a deleted journal": async (name) => {
        for (const suffix of ["", "-wal", "-shm"]) await rm(journal(name, suffix))
      },
      "an empty journal": async (name) => {
        await writeFile(journal(name), "")
        for (const suffix of ["-wal", "-shm"]) await rm(journal(name, suffix))
      },
      "no journal, and nothing that it noted": async (name) => {
        for (const suffix of ["", "-wal", "-shm"]) await rm(journal(name, suffix))
        await rm(join(at(name), "spent.json"))
      }
    }
    for (const [name, lose] of Object.entries(losses)) {
      await cp(at("cut"), at(name), { recursive: true })
      await lose(name)
      const refused = await run(Effect.flip(resume({ ...quietly, directory: at(name) })))
      assert.match(refused.message, /ends after step [01],.*timings\.jsonl of step 2.*--accept-lost/u, name)
      assert.include(await readdir(at(name)), "timings.jsonl")
    }
    await run(resume({ ...quietly, directory: at("a deleted log"), acceptLost: true }))
    const after = await outcomeOf(at("a deleted log"))
    assert.deepStrictEqual(after, whole)
    const [undisturbed, paid] = [await ledger("whole"), await ledger("a deleted log")]
    assert.isAtLeast(paid.rollouts, before.rollouts)
    assert.isAbove(paid.rollouts, undisturbed.rollouts)
    // Nothing is lost any more.
    await run(resume({ ...quietly, directory: at("a deleted log") }))
  })
})

describe("a stop file", { timeout: 120_000, tags: "runs" }, () => {
  it("stops a run that nobody else may write to, with exit code 130", async () => {
    const running = inspo(start("stopped"), cwd)
    const begun = Effect.filterOrFail(readRun(at("stopped")), ({ events }) => events.length > 0)
    const { config } = await run(Effect.retry(begun, Schedule.spaced("20 millis")))
    const second = Effect.provide(Journal, layerJournal(at("stopped"), config, "open"), { local: true })
    assert.include((await run(Effect.flip(second))).message, "another run is writing")
    await writeFile(join(at("stopped"), "stop"), "")
    const stopped = await running
    assert.strictEqual(stopped.code, 130, stopped.stderr)
    const { events } = await run(readRun(at("stopped")))
    assert.isBelow(events.length, whole.events.length)
    assert.notInclude(await readdir(at("stopped")), "stop")
  })
})
