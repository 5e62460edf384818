import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import * as NodeServices from "@effect/platform-node/NodeServices"
import { EventLog, Presets } from "@inspo/coevolution"
import { evolve } from "@inspo/evolve"
import { Viewing } from "@inspo/evolve/parts"
import { ModelFolder } from "@inspo/engine-local"
import { SearchR1, World } from "@inspo/datasets"
import { Question } from "@inspo/domain"
import * as HuggingFaceTokenizer from "@inspo/engine/HuggingFaceTokenizer"
import { Catalog } from "@inspo/engine-tinker"
import { Journal } from "@inspo/journal"
import * as Sqlite from "@inspo/journal/sqlite"
import * as CorpusIndex from "@inspo/retrieval/CorpusIndex"
import { Cause, Effect, Exit, ManagedRuntime, Option, type Path, type FileSystem, Predicate, type Scope } from "effect"
import * as fc from "fast-check"
import { stringify } from "yaml"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { fromInput } from "../../apps/cli/src/config/Input.ts"
import { readOutcome } from "../../apps/cli/src/runDirectory/Outcome.ts"
import { readConfig } from "../../apps/cli/src/runDirectory/ConfigFile.ts"
import { syntheticRun } from "../browser/support/SyntheticRun.ts"
import { writeTinyModel } from "../cli/TinyModel.ts"
import { fields, header } from "../../packages/engine/test/support/GgufFile.ts"
import { damage, damaged } from "./support/Damage.ts"

/** As many damaged files of each format as a twentieth of the requests of each server; 0 leaves the fuzz out. */
const cases = Math.ceil(Number(process.env["INSPO_FUZZ"] ?? 0) / 20)
const seed = Number(process.env["INSPO_SEED"] ?? 1)

/** Milliseconds that reading a small file may take, however damaged it is. */
const testTimeout = 5000

/** Bytes of memory that reading a small file may take for good. */
const room = 300e6

/** A format as files of a folder, and how the program reads it. */
interface Format {
  readonly name: string
  /** The file that is damaged. */
  readonly file: string
  readonly read: (folder: string) => Effect.Effect<unknown, unknown, FileSystem.FileSystem | Path.Path | Scope.Scope>
}

const journal = (folder: string) => Sqlite.layer({ file: join(folder, "journal.sqlite"), mode: "read-only" })

const formats: ReadonlyArray<Format> = [
  {
    name: "questions as JSON lines",
    file: "questions.jsonl",
    read: (folder) => SearchR1.readQuestions(join(folder, "questions.jsonl"))
  },
  {
    name: "questions as Parquet",
    file: "questions.parquet",
    read: (folder) => SearchR1.readQuestions(join(folder, "questions.parquet"))
  },
  { name: "a corpus", file: "corpus.jsonl", read: (folder) => SearchR1.readCorpus(join(folder, "corpus.jsonl")) },
  {
    name: "the index of a corpus",
    file: "corpus.jsonl.bm25",
    read: (folder) =>
      Effect.flatMap(CorpusIndex.make({ corpus: join(folder, "corpus.jsonl") }), ({ search }) =>
        search(["mayor of"], 3)
      )
  },
  {
    name: "a config in YAML",
    file: "config.yaml",
    read: (folder) =>
      fromInput({
        preset: "quick",
        file: Option.some(join(folder, "config.yaml")),
        set: [],
        seed: Option.none()
      })
  },
  { name: "the weights of a model", file: "model.safetensors", read: ModelFolder.read },
  { name: "the config of a model", file: "config.json", read: ModelFolder.read },
  {
    name: "tokenizer.json",
    file: "tokenizer.json",
    read: (folder) =>
      Effect.map(HuggingFaceTokenizer.read(folder), ({ decode, encode }) => decode(encode(" Who is Marlen Tovik?")))
  },
  {
    name: "tokenizer_config.json",
    file: "tokenizer_config.json",
    read: (folder) => HuggingFaceTokenizer.read(folder)
  },
  {
    name: "the header of a GGUF model",
    file: "model.gguf",
    read: (folder) => HuggingFaceTokenizer.read(join(folder, "model.gguf"))
  },
  {
    name: "the events of a journal",
    file: "journal.sqlite",
    read: (folder) => Effect.provide(Effect.flatMap(Journal, EventLog.read), journal(folder))
  },
  {
    name: "the records of a journal",
    file: "journal.sqlite",
    read: (folder) =>
      Effect.gen(function* () {
        const { ledger, listRecords, readIntact, recordKinds } = yield* Journal
        yield* readIntact
        yield* ledger
        return yield* Effect.forEach(yield* recordKinds, (kind) => listRecords(kind))
      }).pipe(Effect.provide(journal(folder)))
  },
  {
    name: "the events of a search",
    file: "events.jsonl",
    read: (folder) => Viewing.read(join(folder, "events.jsonl"))
  },
  { name: "the config of a run", file: "config.json", read: readConfig },
  { name: "the outcome of a run", file: "outcome.json", read: readOutcome },
  {
    name: "the catalog of checkpoints",
    file: "catalog.json",
    read: (folder) => Catalog.file(join(folder, "catalog.json"))
  }
]

/** Folders with the files of a format as they should be. */
const origins = new Map<string, string>()
let directory = ""

describe.skipIf(cases === 0)("damaged files, INSPO_FUZZ", () => {
  beforeAll(async () => {
    directory = mkdtempSync(join(tmpdir(), "inspo-files-"))
    await prepare(directory)
  }, 120_000)
  afterAll(() => rmSync(directory, { recursive: true, force: true }))

  it.each(formats)(
    "$name: a tagged error or a valid result within 5 s",
    { timeout: 60_000 + 100 * cases },
    async (format) => {
      const folder = join(directory, "damaged")
      rmSync(folder, { recursive: true, force: true })
      const origin = origins.get(format.name) ?? ""
      mkdirSync(folder)
      for (const name of readdirSync(origin)) writeFileSync(join(folder, name), readFileSync(join(origin, name)))
      const valid = readFileSync(join(origin, format.file))
      assert.isTrue(Exit.isSuccess(await reading(format, folder)), "the file is read as it should be")
      const law = fc.asyncProperty(fc.array(damage, { minLength: 1, maxLength: 3 }), async (changes) => {
        writeFileSync(join(folder, format.file), changes.reduce(damaged, valid))
        const began = performance.now()
        const before = process.memoryUsage.rss()
        const exit = await reading(format, folder)
        assert.isBelow(performance.now() - began, testTimeout, "milliseconds")
        assert.isBelow(process.memoryUsage.rss() - before, room, "bytes")
        if (Exit.isSuccess(exit)) return
        for (const reason of exit.cause.reasons) {
          assert.isTrue(Cause.isFailReason(reason), Cause.pretty(exit.cause))
          if (Cause.isFailReason(reason)) assertTagged(reason.error)
        }
      })
      await fc.assert(law, { seed, numRuns: cases, verbose: false })
    }
  )
})

const reading = ({ read }: Format, folder: string) => runtime.runPromiseExit(Effect.scoped(read(folder)))

const runtime = ManagedRuntime.make(NodeServices.layer)

const assertTagged = (error: unknown): void => {
  assert.isTrue(Predicate.hasProperty(error, "_tag"), String(error))
  assert.isTrue(error instanceof Error && error.message !== "", String(error))
}

const prepare = async (directory: string): Promise<void> => {
  const run = <A, E>(effect: Effect.Effect<A, E, FileSystem.FileSystem | Path.Path | Scope.Scope>) =>
    runtime.runPromise(Effect.scoped(effect))
  const [data, model, runs] = ["data", "model", "run"].map((name) => join(directory, name))
  if (data === undefined || model === undefined || runs === undefined) return
  for (const { file, name } of formats)
    origins.set(
      name,
      /^(?:questions|corpus|config\.yaml|catalog|events)/u.test(file)
        ? data
        : name.includes("run") || file === "journal.sqlite"
          ? runs
          : model
    )
  mkdirSync(data)
  const written = await syntheticRun(runs, { steps: 3, questionsPerStep: 2, groupSize: 2, tokens: 20 })
  await written.write(written.events)
  await written.close()
  rmSync(join(runs, "questions.jsonl"))
  writeFileSync(join(runs, "outcome.json"), JSON.stringify({ baseline: null, degraded: [] }))
  await run(writeTinyModel(model))
  writeFileSync(join(model, "model.gguf"), header(fields("gpt-2")))
  const questions = Array.from({ length: 30 }, (_, index) => ({
    id: `q${index}`,
    question: `Who is the mayor of town ${index}?`,
    goldenAnswers: [`Person ${index}`] as const,
    dataSource: "easy"
  }))
  writeFileSync(
    join(data, "questions.jsonl"),
    questions
      .map(({ dataSource, goldenAnswers, id, question }) =>
        JSON.stringify({ id, question, golden_answers: goldenAnswers, data_source: dataSource })
      )
      .join("\n")
  )
  await run(
    SearchR1.writeStream(
      join(data, "questions.parquet"),
      SearchR1.questions(join(data, "questions.jsonl")),
      "Answer the question."
    )
  )
  await evolve({
    prompt: "Answer.",
    cases: questions.map(({ id }) => ({ id })),
    agent: (prompt) => prompt,
    score: (output) => output.length % 2,
    proposer: ["Be brief.", "Be polite."],
    budget: { calls: 40 },
    file: join(data, "events.jsonl")
  })
  const world = await run(World.make(1, World.defaultSizes))
  writeFileSync(
    join(data, "corpus.jsonl"),
    World.passages(world)
      .slice(0, 20)
      .map((passage) => `${JSON.stringify({ id: passage.id, contents: Question.contentsOf(passage) })}\n`)
      .join("")
  )
  await run(CorpusIndex.make({ corpus: join(data, "corpus.jsonl") }))
  const { schedule, train } = Presets.quick
  writeFileSync(join(data, "config.yaml"), stringify({ randomSeed: 3, schedule, train, seedInstruction: "Answer." }))
  const catalog = await run(Catalog.file(join(data, "catalog.json")))
  for (const name of ["a", "b"])
    await run(
      catalog.put(`tinker://m/weights/${name}`, {
        uri: `file:///${name}`,
        hash: "0".repeat(64),
        savedAt: 1,
        metadata: { a: "b" }
      })
    )
}
