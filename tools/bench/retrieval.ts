/**
 * `pnpm bench retrieval [PASSAGES] [SAMPLES] [PYTHON]`: time, memory and disk of an index over that many synthetic passages
 * (1,000,000 by default), the time of a question, and how often the first three passages for real questions contain a
 * supporting passage or an answer, for `*.jsonl` with `*.corpus.jsonl` in the folder SAMPLES. With PYTHON, an interpreter that
 * has `retrieval/requirements.txt`, bm25s answers the same questions in alternation, from a process of its own.
 */
import { existsSync, readdirSync, statSync } from "node:fs"
import { basename, join } from "node:path"
import * as NodeServices from "@effect/platform-node/NodeServices"
import { SearchR1 } from "@inspo/datasets"
import type { Search } from "@inspo/retrieval"
import * as Bm25 from "@inspo/retrieval/Bm25"
import * as CorpusIndex from "@inspo/retrieval/CorpusIndex"
import { ExactMatch } from "@inspo/reward"
import { Console, Effect, FileSystem } from "effect"
import { processorSeconds, quantile } from "./Measure.ts"
import * as Beside from "./retrieval/Beside.ts"
import { length, write } from "./retrieval/Corpus.ts"

const [passages = "1000000", samples = "", python] = process.argv.slice(2)

const topK = 3

const seconds = (milliseconds: number) => (milliseconds / 1000).toFixed(1)

const timed = Effect.fnUntraced(function* <A, E, R>(effect: Effect.Effect<A, E, R>) {
  const before = process.cpuUsage()
  const start = performance.now()
  const value = yield* effect
  const wall = performance.now() - start
  return { value, wall, cpu: 1000 * processorSeconds(before) }
})

const speed = Effect.fnUntraced(function* (size: number) {
  const fs = yield* FileSystem.FileSystem
  const corpus = join(yield* fs.makeTempDirectoryScoped(), "corpus.jsonl")
  const asked = yield* Effect.promise(() => write(corpus, size))
  const { cpu, value: index, wall } = yield* timed(CorpusIndex.make({ corpus }))
  const disk = statSync(CorpusIndex.defaultFile(corpus)).size / 2 ** 20
  const memory = process.resourceUsage().maxRSS / 2 ** 10
  yield* Console.log(
    `${size} passages of ${length} words (${(statSync(corpus).size / 2 ** 20).toFixed(0)} MiB): built in ` +
      `${seconds(wall)} s (${seconds(cpu)} s of processor), peak ${memory.toFixed(0)} MiB, ${disk.toFixed(0)} MiB on disk`
  )
  const search = () => Effect.forEach(asked, (question) => timed(index.search([question], topK)))
  // The first round reads the file and compiles.
  yield* search()
  const beside =
    python === undefined
      ? null
      : yield* Effect.acquireRelease(
          Effect.promise(() => Beside.start(python, corpus)),
          ({ stop }) => Effect.sync(stop)
        )
  if (beside !== null) {
    const { megabytes, seconds: built, version } = beside.about
    yield* Console.log(`bm25s ${version} with numba: built in ${built.toFixed(1)} s, peak ${megabytes.toFixed(0)} MiB`)
    yield* Effect.promise(() => beside.search(asked))
  }
  const ratios: Array<Beside.Time> = []
  for (let round = 1; round <= rounds; round++) {
    const ours = yield* search()
    yield* Console.log(`round ${round}: ${described("ours", ours)}`)
    if (beside === null) continue
    const theirs = yield* Effect.promise(() => beside.search(asked))
    yield* Console.log(`round ${round}: ${described("bm25s", theirs)}`)
    ratios.push({
      wall: median("wall", ours) / median("wall", theirs),
      cpu: median("cpu", ours) / median("cpu", theirs)
    })
  }
  if (beside !== null)
    yield* Console.log(
      `median of ours ÷ median of bm25s, median of ${rounds} rounds: ${median("wall", ratios).toFixed(2)} of the clock, ` +
        `${median("cpu", ratios).toFixed(2)} of processor`
    )
})

const rounds = 3

const sorted = (kind: keyof Beside.Time, times: ReadonlyArray<Beside.Time>) =>
  times.map((time) => time[kind]).sort((a, b) => a - b)

const median = (kind: keyof Beside.Time, times: ReadonlyArray<Beside.Time>) => quantile(sorted(kind, times), 0.5)

const described = (what: string, times: ReadonlyArray<Beside.Time>): string => {
  const of = (kind: keyof Beside.Time, share: number) => quantile(sorted(kind, times), share).toFixed(2)
  return (
    `${what}, top ${topK} for ${times.length} questions of 10 words: median ${of("wall", 0.5)} ms, p95 ${of("wall", 0.95)} ms ` +
    `(of processor: ${of("cpu", 0.5)}, ${of("cpu", 0.95)})`
  )
}

/**
 * The first three passages of each question: the mean share of the supporting passages, over the questions that name
 * some, and how often one of the three contains a golden answer.
 */
const evidence = Effect.fnUntraced(function* (
  { search }: Search.Interface,
  questions: ReadonlyArray<SearchR1.FileQuestion>
) {
  const found = yield* search(
    questions.map(({ question }) => question),
    topK
  )
  const recalls = questions.flatMap(({ supportIds = [] }, i) => {
    const ids = new Set(found[i]?.map(({ passage }) => passage.id))
    return supportIds.length === 0 ? [] : [supportIds.filter((id) => ids.has(id)).length / supportIds.length]
  })
  const answered = questions.filter(({ goldenAnswers }, i) =>
    found[i]?.some(
      ({ passage: { text, title } }) => ExactMatch.substringExactMatch(`${title} ${text}`, goldenAnswers) === 1
    )
  )
  return {
    recall: recalls.length === 0 ? null : (100 * recalls.reduce((sum, recall) => sum + recall, 0)) / recalls.length,
    hits: (100 * answered.length) / questions.length
  }
})

const describe = ({ hits, recall }: { readonly hits: number; readonly recall: number | null }): string =>
  `${recall === null ? "no supporting passages named" : `recall@${topK} ${recall.toFixed(1)} %`}, an answer in ${hits.toFixed(1)} %`

const recall = Effect.fnUntraced(function* (folder: string) {
  for (const name of readdirSync(folder).filter((file) => file.endsWith(".corpus.jsonl"))) {
    const file = join(folder, name.replace(".corpus", ""))
    if (!existsSync(file)) continue
    const corpus = yield* SearchR1.readCorpus(join(folder, name))
    const questions = yield* SearchR1.readQuestions(file)
    yield* Console.log(
      `${basename(file)}: ${corpus.length} passages, ${questions.length} questions; ` +
        describe(yield* evidence(yield* Bm25.make(corpus), questions))
    )
  }
})

await Effect.gen(function* () {
  if (Number(passages) > 0) yield* speed(Number(passages))
  if (samples !== "") yield* recall(samples)
}).pipe(Effect.scoped, Effect.provide(NodeServices.layer), Effect.runPromise)
