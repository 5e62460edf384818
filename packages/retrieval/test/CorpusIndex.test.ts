import * as NodeServices from "@effect/platform-node/NodeServices"
import { assert, layer } from "@effect/vitest"
import * as Bm25 from "@inspo/retrieval/Bm25"
import * as CorpusIndex from "@inspo/retrieval/CorpusIndex"
import { Question } from "@inspo/domain"
import { Corpora, SearchLaws } from "@inspo/retrieval/testing"
import { Effect, Fiber, FileSystem, Path, Ref } from "effect"

const rows = (passages: ReadonlyArray<Question.Passage>) =>
  passages.map((passage) => `${JSON.stringify({ id: passage.id, contents: Question.contentsOf(passage) })}\n`).join("")

const folder = Effect.flatMap(FileSystem.FileSystem, (fs) => fs.makeTempDirectoryScoped())

const corpusOf = Effect.fnUntraced(function* (text: string) {
  const fs = yield* FileSystem.FileSystem
  const corpus = (yield* Path.Path).join(yield* folder, "corpus.jsonl")
  yield* fs.writeFileString(corpus, text)
  return corpus
})

const fixture = [
  { id: "town", title: "Ostrel Bay", text: "Ostrel Bay was founded in 1862 and its mayor is Ira Volst." },
  { id: "person", title: "Ira Volst", text: "Ira Volst was born in Ostrel Bay and works at Denco Mills." }
]

layer(NodeServices.layer)("make", (it) => {
  const open = (passages: ReadonlyArray<Question.Passage>) =>
    Effect.flatMap(corpusOf(rows(passages)), (corpus) => CorpusIndex.make({ corpus }))
  for (const { check, name } of SearchLaws.laws(open, { runs: 20 })) it.effect(name, () => check)

  it.effect.prop(
    "finds what a search in memory finds, also when the index is found on disk",
    [Corpora.Texts, Corpora.Queries],
    ([drawn, drawnQueries]) =>
      Effect.gen(function* () {
        const passages = Corpora.toPassages(drawn)
        const queries = Corpora.toQueries(drawnQueries)
        const corpus = yield* corpusOf(`\uFEFF\n${rows(passages)}\n\n`)
        const inMemory = yield* Bm25.make(passages)
        const expected = yield* inMemory.search(queries, 3)
        for (const built of [true, false]) {
          const index = yield* CorpusIndex.make({ corpus })
          assert.deepStrictEqual([index.built, index.size], [built, passages.length])
          assert.deepStrictEqual(yield* index.search(queries, 3), expected)
        }
      }).pipe(Effect.scoped),
    { arbitrary: { runs: 40 } }
  )

  it.effect("builds anew when the corpus has changed, and leaves no other files", () =>
    Effect.gen(function* () {
      const fs = yield* FileSystem.FileSystem
      const path = yield* Path.Path
      const corpus = yield* corpusOf(rows(fixture))
      const first = yield* CorpusIndex.make({ corpus })
      yield* fs.writeFileString(corpus, rows(fixture.toReversed()))
      const second = yield* CorpusIndex.make({ corpus })
      assert.deepStrictEqual([first.built, second.built], [true, true])
      assert.strictEqual((yield* second.search(["Ostrel Bay"], 1))[0]?.[0]?.passage.id, "town")
      assert.sameMembers(yield* fs.readDirectory(path.dirname(corpus)), ["corpus.jsonl", "corpus.jsonl.bm25"])
    }).pipe(Effect.scoped)
  )

  it.effect("builds an index anew that is cut off, damaged or of the format before", () =>
    Effect.gen(function* () {
      const fs = yield* FileSystem.FileSystem
      const corpus = yield* corpusOf(rows(fixture))
      const file = CorpusIndex.defaultFile(corpus)
      yield* Effect.scoped(CorpusIndex.make({ corpus }))
      const whole = yield* fs.readFile(file)
      const damaged = Uint8Array.from(whole)
      damaged[Buffer.from(whole).indexOf('"passages":2') + 11] = 0x33
      const before = Buffer.from("SQLite format 3\0CREATE TABLE corpus (key TEXT NOT NULL, passages INTEGER NOT NULL)")
      for (const bytes of [whole.subarray(0, 11), whole.subarray(0, whole.length - 1), damaged, before]) {
        yield* fs.writeFile(file, bytes)
        const index = yield* CorpusIndex.make({ corpus })
        assert.isTrue(index.built)
        assert.strictEqual((yield* index.search(["Volst"], 1))[0]?.[0]?.passage.id, "person")
        assert.deepStrictEqual(yield* fs.readFile(file), whole)
      }
    }).pipe(Effect.scoped)
  )

  it.effect("tells how far it is, and leaves nothing behind when it is stopped", () =>
    Effect.gen(function* () {
      const fs = yield* FileSystem.FileSystem
      const path = yield* Path.Path
      const corpus = yield* corpusOf(rows(fixture))
      const told = yield* Ref.make<ReadonlyArray<number>>([])
      const building = yield* Effect.forkChild(
        CorpusIndex.make({
          corpus,
          onProgress: (share) =>
            Effect.andThen(
              Ref.update(told, (shares) => [...shares, share]),
              Effect.never
            )
        })
      )
      while ((yield* Ref.get(told)).length === 0)
        yield* Effect.promise(() => new Promise((resolve) => setImmediate(resolve)))
      yield* Fiber.interrupt(building)
      assert.deepStrictEqual(yield* Ref.get(told), [1])
      assert.deepStrictEqual(yield* fs.readDirectory(path.dirname(corpus)), ["corpus.jsonl"])
    }).pipe(Effect.scoped)
  )

  it.effect("says what is wrong with a corpus or an index, and touches neither", () =>
    Effect.gen(function* () {
      const fs = yield* FileSystem.FileSystem
      const path = yield* Path.Path
      for (const [text, expected] of [
        ["", "holds no passage"],
        ["\n \n", "holds no passage"],
        [`${rows(fixture)}{"id": 3,`, 'corpus.jsonl:3 is {"id": 3,; expected a row'],
        [`{"id": "1", "text": "x"}\n`, "corpus.jsonl:1 is"],
        [`{"contents": "x"}\n`, "corpus.jsonl:1 is"]
      ] as const) {
        const corpus = yield* corpusOf(text)
        assert.include((yield* Effect.flip(CorpusIndex.make({ corpus }))).message, expected)
        assert.deepStrictEqual(yield* fs.readDirectory(path.dirname(corpus)), ["corpus.jsonl"])
      }
      const corpus = yield* corpusOf(rows(fixture))
      const notes = path.join(path.dirname(corpus), "notes.txt")
      yield* fs.writeFileString(notes, "not an index ".repeat(1000))
      const missing = path.join(path.dirname(corpus), "missing", "index")
      for (const index of [notes, missing]) {
        assert.include((yield* Effect.flip(CorpusIndex.make({ corpus, index }))).message, index)
      }
      assert.include(yield* fs.readFileString(notes), "not an index")
      assert.include((yield* Effect.flip(CorpusIndex.make({ corpus: missing }))).message, "check the path")
    }).pipe(Effect.scoped)
  )

  it.effect("refuses a corpus that is not UTF-8, with line, byte and remedy", () =>
    Effect.gen(function* () {
      const fs = yield* FileSystem.FileSystem
      const corpus = yield* corpusOf(rows(fixture))
      yield* fs.writeFile(corpus, Buffer.from('{"id":"3","contents":"Ren\xe9"}', "latin1"), { flag: "a" })
      const { message } = yield* Effect.flip(CorpusIndex.make({ corpus }))
      assert.include(message, `${corpus}:3: byte 26 (0xE9) is not UTF-8`)
    }).pipe(Effect.scoped)
  )
})
