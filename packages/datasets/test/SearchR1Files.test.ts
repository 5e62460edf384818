/** @module-tag deep */
import { existsSync } from "node:fs"
import { fileURLToPath } from "node:url"
import { brotliCompressSync, gzipSync, zstdCompressSync } from "node:zlib"
import * as NodeServices from "@effect/platform-node/NodeServices"
import { assert, describe, layer } from "@effect/vitest"
import { SearchR1 } from "@inspo/datasets"
import { Question } from "@inspo/domain"
import { Array as Arr, Effect, FileSystem, Path, Result, Schema, Stream, Struct } from "effect"
import { parquetWriteBuffer } from "hyparquet-writer"

const samples = fileURLToPath(new URL("../../../../shared/data/", import.meta.url))

const FileQuestions = Schema.Array(
  Schema.Struct({
    question: Schema.String,
    goldenAnswers: Schema.NonEmptyArray(Schema.String),
    dataSource: Schema.String,
    hops: Schema.optionalKey(Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 9 }))),
    supportIds: Schema.optionalKey(Schema.Array(Schema.String)),
    split: Schema.optionalKey(Schema.Literals(["train", "validation", "test"])),
    prompt: Schema.optionalKey(Schema.NonEmptyArray(Schema.Struct({ role: Schema.String, content: Schema.String })))
  })
).check(Schema.isMinLength(1))

// Files hold UTF-8, which knows no lone surrogates.
const wellFormed = (text: string) => text.toWellFormed()

/** The drawn questions as a file can hold them: with ids, and with text where text has to be. */
const toQuestions = (drawn: typeof FileQuestions.Type): ReadonlyArray<SearchR1.FileQuestion> =>
  drawn.map(({ prompt, supportIds, ...question }, index) => ({
    ...question,
    id: Question.QuestionId.make(`q${index}`),
    question: wellFormed(question.question).trim() || "q?",
    goldenAnswers: Arr.map(question.goldenAnswers, wellFormed),
    dataSource: wellFormed(question.dataSource) || "source",
    ...(supportIds === undefined ? {} : { supportIds: supportIds.map(wellFormed) }),
    ...(prompt === undefined
      ? {}
      : { prompt: prompt.map(({ content, role }) => ({ role: wellFormed(role), content: wellFormed(content) })) })
  }))

const withoutPrompt = (question: SearchR1.FileQuestion) => Struct.omit(question, ["prompt"])

/** Rows as others' data scripts write them, of a question, its answers and a number. */
const shapes = {
  "Search-R1": (question: string, answers: ReadonlyArray<string>, index: number) => ({
    id: `train_${index}`,
    question,
    golden_answers: answers,
    data_source: "nq",
    prompt: [{ role: "user", content: `Search, then answer. Question: ${question}\n` }],
    ability: "fact-reasoning",
    reward_model: { ground_truth: { target: answers }, style: "rule" },
    extra_info: { index, split: "train" }
  }),
  "Search-R1 by verl": (question: string, answers: ReadonlyArray<string>, index: number) => ({
    data_source: "searchR1_nq",
    prompt: [
      { role: "system", content: "Be good." },
      { role: "user", content: `Search, then answer. Question: ${question}` }
    ],
    ability: "fact-reasoning",
    reward_model: { ground_truth: { target: answers }, style: "rule" },
    extra_info: { index, need_tools_kwargs: true, question, split: "train" }
  }),
  DeepResearcher: (question: string, answers: ReadonlyArray<string>, index: number) => ({
    id: index,
    data_source: "musique",
    prompt: [{ role: "user", content: question }],
    ability: "fact-reasoning",
    reward_model: { ground_truth: answers.join("<|answer_split|>"), style: "rule" },
    extra_info: { index: `musique_${index}`, split: "train" }
  }),
  "GSM8K by verl": (question: string, [answer]: ReadonlyArray<string>, index: number) => ({
    data_source: "openai/gsm8k",
    prompt: [{ role: "user", content: `${question} Think, and put the result after "####".` }],
    ability: "math",
    reward_model: { ground_truth: answer, style: "rule" },
    extra_info: { answer: `So #### ${answer}`, index, question, split: "train" }
  }),
  "DAPO by verl": (question: string, [answer]: ReadonlyArray<string>, index: number) => ({
    data_source: "math_dapo",
    prompt: [{ role: "user", content: question }],
    ability: "MATH",
    reward_model: { ground_truth: answer, style: "rule-lighteval/MATH_v2" },
    extra_info: { index: `9a9b6eb4-${index}` }
  })
}

const Plain = Schema.String.check(Schema.isPattern(/^\w[\w?, ]*$/u))

/** A path in a folder of the test's own. */
const temporary = Effect.fnUntraced(function* (name: string) {
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  return path.join(yield* fs.makeTempDirectoryScoped(), name)
})

const written = Effect.fnUntraced(function* (name: string, bytes: Uint8Array) {
  const fs = yield* FileSystem.FileSystem
  const file = yield* temporary(name)
  yield* fs.writeFile(file, bytes)
  return file
})

const parquet = (columns: Record<string, Array<unknown>>, rowGroupSize = 1000) =>
  new Uint8Array(
    parquetWriteBuffer({ columnData: Object.entries(columns).map(([name, data]) => ({ name, data })), rowGroupSize })
  )

/** A Parquet file whose pages hold other bytes than their headers say. */
const parquetOf = (bytes: Uint8Array, codec: "GZIP" | "BROTLI" | "ZSTD", compress: (bytes: Uint8Array) => Uint8Array) =>
  new Uint8Array(
    parquetWriteBuffer({
      columnData: [
        { name: "question", data: ["Who?"] },
        { name: "golden_answers", data: ["She."] }
      ],
      codec,
      compressors: { [codec]: () => compress(bytes) }
    })
  )

const row = (id: number) => `{"id":"${id}","question":"Who?","golden_answers":["A"]}`

const messageOf = (file: string) => Effect.map(Effect.flip(SearchR1.readQuestions(file)), ({ message }) => message)

layer(NodeServices.layer)("question files", (it) => {
  it.effect("that are not UTF-8 are refused with line, byte and remedy", () =>
    Effect.gen(function* () {
      const latin1 = Buffer.from(`${row(1)}\n${row(2).replace("Who", "Ren\xe9")}\n`, "latin1")
      const file = yield* written("latin1.jsonl", latin1)
      const told = `${file}:2: byte 26 (0xE9) is not UTF-8; expected a text in UTF-8. If it is Latin-1, convert it: iconv`
      assert.include(yield* messageOf(file), told)
      const corpus = yield* written("corpus.jsonl", Buffer.from('{"id":"1","contents":"Ren\xe9"}\n', "latin1"))
      assert.include((yield* Effect.flip(SearchR1.readCorpus(corpus))).message, "corpus.jsonl:1: byte 26 (0xE9)")
    }).pipe(Effect.scoped)
  )

  it.effect.prop(
    "report every row that cannot be read, and give the others",
    [Schema.Array(Schema.Literals(["good", "cut", "latin1", "empty"])).check(Schema.isMinLength(1))],
    ([kinds]) =>
      Effect.gen(function* () {
        const lines = kinds.map((kind, index) =>
          kind === "good"
            ? row(index)
            : { cut: '{"id":', latin1: '{"id":"\xe9"}', empty: `{"id":"${index}","golden_answers":[]}` }[kind]
        )
        const file = yield* written("mixed.jsonl", Buffer.from(lines.join("\n"), "latin1"))
        const found = yield* Stream.runCollect(SearchR1.checked(file))
        assert.deepStrictEqual(
          found.map((one) => (Result.isSuccess(one) ? String(one.success.id) : one.failure.line)),
          kinds.map((kind, index) => (kind === "good" ? `${index}` : index + 1))
        )
      }).pipe(Effect.scoped)
  )

  it.effect.each([
    ["GZIP", gzipSync],
    ["BROTLI", brotliCompressSync],
    ["ZSTD", zstdCompressSync]
  ] as const)("of %s whose pages hold more than they say are refused before they are unpacked", ([codec, compress]) =>
    Effect.gen(function* () {
      const file = yield* written("bomb.parquet", parquetOf(Buffer.alloc(2 ** 26), codec, compress))
      const before = process.memoryUsage().arrayBuffers
      assert.include(yield* messageOf(file), "expected a whole Parquet file (Cannot create a Buffer larger than")
      assert.isBelow(process.memoryUsage().arrayBuffers - before, 2 ** 24)
    }).pipe(Effect.scoped)
  )

  it.effect.prop(
    "come back from either format as they were written, prompts when asked for",
    [FileQuestions, Schema.Literals(["q.parquet", "q.jsonl"])],
    ([drawn, name]) =>
      Effect.gen(function* () {
        const questions = toQuestions(drawn)
        const file = yield* temporary(name)
        yield* SearchR1.writeStream(file, Stream.fromIterable(questions), "Answer.")
        assert.deepStrictEqual(yield* SearchR1.readQuestions(file), questions.map(withoutPrompt))
        const again = yield* Stream.runCollect(SearchR1.questions(file, { prompts: true }))
        for (const [i, { prompt, question }] of questions.entries()) {
          if (prompt !== undefined) assert.deepStrictEqual(again[i]?.prompt, prompt)
          else if (SearchR1.isParquet(file))
            assert.deepStrictEqual(again[i]?.prompt, [{ role: "user", content: `Answer. Question: ${question}\n` }])
        }
      }).pipe(Effect.scoped),
    { arbitrary: { runs: 30 } }
  )

  it.effect.prop(
    "give the same questions row group by row group, and only as many as are taken",
    [
      Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 40 })),
      Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 9 }))
    ],
    ([size, rowGroupSize]) =>
      Effect.gen(function* () {
        const texts = Array.from({ length: size }, (_, index) => `question ${index}?`)
        const columns = { question: texts, golden_answers: texts.map((text) => (text.length % 2 === 0 ? "a" : "b")) }
        const file = yield* written("q.parquet", parquet(columns, rowGroupSize))
        const whole = yield* SearchR1.readQuestions(file)
        assert.deepStrictEqual(
          whole.map(({ question }) => question),
          texts
        )
        assert.deepStrictEqual(yield* Stream.runCollect(Stream.take(SearchR1.questions(file), 3)), whole.slice(0, 3))
      }).pipe(Effect.scoped),
    { arbitrary: { runs: 30 } }
  )

  it.effect("are read from the prompt and the reward model where the plain columns are missing", () =>
    Effect.gen(function* () {
      const rows = ["nq", "hotpotqa"]
      const bytes = parquet({
        data_source: rows,
        prompt: rows.map((source) => [{ content: `Question: who of ${source}?\n`, role: "user" }]),
        reward_model: rows.map(() => ({ ground_truth: { target: ["x"] } })),
        extra_info: rows.map(() => ({ index: 0, split: "train" }))
      })
      const questions = yield* SearchR1.readQuestions(yield* written("q.parquet", bytes))
      assert.deepStrictEqual(
        questions.map(({ id, question }) => [id as string, question]),
        [
          ["nq/train/0", "who of nq?"],
          ["hotpotqa/train/0", "who of hotpotqa?"]
        ]
      )
    }).pipe(Effect.scoped)
  )

  it.effect.prop(
    "of others are read with every question and answer, from either format",
    [
      Schema.Literals(Struct.keys(shapes)),
      Schema.Literals(["q.parquet", "q.jsonl"]),
      Schema.NonEmptyArray(Schema.Struct({ question: Plain, answers: Schema.NonEmptyArray(Plain) }))
    ],
    ([shape, name, drawn]) =>
      Effect.gen(function* () {
        const rows = drawn.map(({ answers, question }, index) => shapes[shape](question, answers, index))
        const columns = Struct.keys(rows[0] ?? {})
        const bytes = SearchR1.isParquet(name)
          ? parquet(Object.fromEntries(columns.map((column) => [column, rows.map((row) => row[column])])))
          : Buffer.from(rows.map((row) => JSON.stringify(row)).join("\n"))
        const read = yield* SearchR1.readQuestions(yield* written(name, bytes))
        const single = shape === "GSM8K by verl" || shape === "DAPO by verl"
        assert.deepStrictEqual(
          read.map(({ goldenAnswers, question }) => ({ question, answers: goldenAnswers })),
          drawn.map(({ answers, question }) => ({
            question: question.trim(),
            answers: single ? [answers[0]] : answers
          }))
        )
      }).pipe(Effect.scoped),
    { arbitrary: { runs: 60 } }
  )

  it.effect.prop(
    "give the same questions from either format where columns are null, and where no number holds an id",
    [Schema.NonEmptyArray(Schema.Literals(Struct.keys(shapes))), Schema.Literals([0n, 2n ** 53n])],
    ([kinds, first]) =>
      Effect.gen(function* () {
        const rows: ReadonlyArray<Record<string, unknown>> = kinds.map((kind, index) => ({
          ...Struct.omit(shapes[kind](`Who is ${index}?`, [`answer ${index}`], index), ["extra_info"]),
          id: first + BigInt(index)
        }))
        const columns = [...new Set(rows.flatMap((one) => Object.keys(one)))]
        const table = rows.map((one) => Object.fromEntries(columns.map((column) => [column, one[column] ?? null])))
        const data = Object.fromEntries(columns.map((column) => [column, table.map((one) => one[column])]))
        const lines = table.map((one) =>
          JSON.stringify(one, (_, value: unknown) => (typeof value === "bigint" ? `#${value}` : value))
        )
        const text = lines.join("\n").replaceAll(/"#(\d+)"/gu, "$1")
        const read = yield* SearchR1.readQuestions(yield* written("q.jsonl", Buffer.from(text)))
        assert.deepStrictEqual(
          read.map(({ id }) => String(id)),
          rows.map(({ id }) => String(id))
        )
        assert.deepStrictEqual(yield* SearchR1.readQuestions(yield* written("q.parquet", parquet(data))), read)
      }).pipe(Effect.scoped),
    { arbitrary: { runs: 30 } }
  )

  it.effect("keep an id of a corpus that no number holds", () =>
    Effect.gen(function* () {
      const file = yield* written("c.jsonl", Buffer.from('{"id": 9007199254740993, "contents": "T\\ntext"}\n'))
      assert.deepStrictEqual(
        (yield* SearchR1.readCorpus(file)).map(({ id }) => id),
        ["9007199254740993"]
      )
    }).pipe(Effect.scoped)
  )

  it.effect("are refused when they are empty, cut off, not Parquet, without rows, or of other columns", () =>
    Effect.gen(function* () {
      const good = parquet({ question: ["q?"], golden_answers: ["a"] })
      const columnData = ["question", "golden_answers"].map((name) => ({ name, data: [], type: "STRING" as const }))
      const noRows = new Uint8Array(parquetWriteBuffer({ columnData }))
      for (const [bytes, expected] of [
        [new Uint8Array(), "q.parquet: expected a Parquet file; the file is empty"],
        [noRows, "q.parquet: expected at least one row; the file is empty"],
        [good.slice(0, good.length - 20), "q.parquet: expected a whole Parquet file ("],
        [good.slice(20), "q.parquet: expected a whole Parquet file ("],
        [good.slice(0, 3), "q.parquet: expected a whole Parquet file ("],
        [new TextEncoder().encode('{"question": "q?"}\n'), "q.parquet: expected a whole Parquet file ("],
        [
          parquet({ id: ["0"], contents: ["x"] }),
          'q.parquet: columns is ["id","contents"]; expected question and golden_answers'
        ],
        [parquet({ question: ["q?"], answer: ["a"] }), "expected question and golden_answers, or Search-R1's prompt"],
        [
          parquet({ question: ["q?", 7].map(String), golden_answers: [1, 2] }),
          "q.parquet:1: golden_answers is 1; expected"
        ],
        [
          parquet({ question: ["q?", ""], golden_answers: ["a", "b"] }),
          'q.parquet:2: question is ""; expected a question'
        ]
      ] as const) {
        assert.include(yield* messageOf(yield* written("q.parquet", bytes)), expected)
      }
      assert.include(yield* messageOf("none.parquet"), "none.parquet: expected a readable file (")
    }).pipe(Effect.scoped)
  )
})

describe.skipIf(!existsSync(samples))(`the sample files of ${samples} (skipped where they are absent)`, () => {
  layer(NodeServices.layer)((it) => {
    it.effect.each([
      ["searchr1_format.train.parquet", 80],
      ["searchr1_format.test.parquet", 1323],
      ["hotpotqa.jsonl", 198],
      ["musique.jsonl", 200],
      ["bamboogle.jsonl", 125]
    ] as const)("%s has %i questions of their own ids", ([name, count]) =>
      Effect.gen(function* () {
        const questions = yield* SearchR1.readQuestions(`${samples}${name}`)
        assert.lengthOf(questions, count)
        assert.lengthOf(new Set(questions.map(({ id }) => id)), count)
      })
    )
  })
})
