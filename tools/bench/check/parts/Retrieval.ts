import { statSync } from "node:fs"
import { join } from "node:path"
import * as CorpusIndex from "@inspo/retrieval/CorpusIndex"
import { Effect, FileSystem } from "effect"
import { write } from "../../retrieval/Corpus.ts"
import { Level } from "../Comparison.ts"
import { measure } from "../Workload.ts"

const part = "retrieval"
const sizes = [2_000, 60_000] as const
const asked = 100
const topK = 3

/** An index on disk: building it, its size, and searches. */
export const figures = Effect.gen(function* () {
  const fs = yield* FileSystem.FileSystem
  const directory = yield* fs.makeTempDirectoryScoped()
  const corpusOf = (size: number) => join(directory, `${size}.jsonl`)
  const questions = new Map<number, ReadonlyArray<string>>()
  for (const size of sizes) questions.set(size, yield* Effect.promise(() => write(corpusOf(size), size)))

  const build = yield* measure({
    part,
    name: "build of an index",
    items: "passages",
    sizes,
    rounds: 3,
    // It waits for the disk; the calibration does not.
    tolerance: 0.6,
    make: (size) => Effect.succeed(indexed(corpusOf(size)))
  })
  const corpus = corpusOf(sizes[1])
  const disk = Level.make({
    part,
    name: "index on disk",
    unit: "bytes per passage",
    value: statSync(CorpusIndex.defaultFile(corpus)).size / sizes[1],
    better: "less",
    tolerance: 0.05
  })
  const search = yield* measure({
    part,
    name: "questions",
    items: "questions",
    scale: "passages",
    sizes,
    itemsOf: () => asked,
    // The list of a word grows with the corpus, and part of it is skipped.
    bound: 4,
    make: (size) =>
      Effect.map(CorpusIndex.make({ corpus: corpusOf(size) }), (index) =>
        index.search((questions.get(size) ?? []).slice(0, asked), topK)
      )
  })
  return [disk, ...[build, search].flatMap(({ growth, level }) => [level, growth])]
})

/** Builds the index again. */
const indexed = Effect.fnUntraced(function* (corpus: string) {
  const fs = yield* FileSystem.FileSystem
  yield* fs.remove(CorpusIndex.defaultFile(corpus), { force: true })
  yield* Effect.scoped(CorpusIndex.make({ corpus }))
})
