import { assert, describe, it } from "@effect/vitest"
import { SearchR1 } from "@inspo/datasets"
import { Question } from "@inspo/domain"
import { Effect, FileSystem, type Layer, PlatformError, Schema, Stream } from "effect"

/** A file system that holds `files` and what is written. */
const layerFiles = (files: Map<string, string>): Layer.Layer<FileSystem.FileSystem> =>
  FileSystem.layerNoop({
    stream: (path) => {
      const content = files.get(path)
      return content === undefined
        ? Stream.fail(PlatformError.systemError({ _tag: "NotFound", module: "FileSystem", method: "open" }))
        : Stream.make(new TextEncoder().encode(content))
    },
    writeFileString: (path, content) => Effect.sync(() => void files.set(path, content))
  })

const reading = <A, E>(content: string, read: (file: string) => Effect.Effect<A, E, FileSystem.FileSystem>) =>
  read("data.jsonl").pipe(Effect.provide(layerFiles(new Map([["data.jsonl", content]])), { local: true }))

const lines = (...rows: ReadonlyArray<unknown>) => rows.map((row) => JSON.stringify(row)).join("\n")

const messageOf = (content: string) => Effect.map(Effect.flip(reading(content, SearchR1.readQuestions)), String)

const Trimmed = Schema.String.check(
  Schema.makeFilter((text) => (text.trim() === text && text !== "" ? undefined : "expected text without outer space"))
)
const FileQuestions = Schema.Array(
  Schema.Struct({
    question: Trimmed,
    goldenAnswers: Schema.NonEmptyArray(Schema.String),
    dataSource: Schema.NonEmptyString,
    conversation: Schema.optionalKey(Schema.NonEmptyArray(Question.Message)),
    hops: Schema.optionalKey(Schema.Natural),
    supportIds: Schema.optionalKey(Schema.Array(Schema.String)),
    split: Schema.optionalKey(Schema.Literals(["train", "validation", "test"]))
  })
)
const Passages = Schema.Array(Schema.Struct({ title: Schema.String, text: Schema.String }))

describe("questions", () => {
  it.effect.prop("are read as they were written", [FileQuestions], ([drawn]) =>
    Effect.gen(function* () {
      if (drawn.length === 0) return
      const questions = drawn.map((question, index) => ({ ...question, id: Question.QuestionId.make(`q${index}`) }))
      yield* SearchR1.writeQuestions("q.jsonl", questions)
      assert.deepStrictEqual(yield* SearchR1.readQuestions("q.jsonl"), questions)
    }).pipe(Effect.provide(layerFiles(new Map()), { local: true }))
  )

  it.effect("are read from the prompt and the reward model where the plain columns are missing", () =>
    Effect.gen(function* () {
      const content = "For example, <answer> Beijing </answer>. Question: who said Question: why?\n"
      const row = {
        data_source: "nq",
        prompt: [{ role: "user", content }],
        ability: "fact-reasoning",
        reward_model: { style: "rule", ground_truth: { target: ["someone", "one"] } },
        extra_info: { split: "test", index: 3 }
      }
      assert.deepStrictEqual(yield* reading(lines(row), SearchR1.readQuestions), [
        {
          id: Question.QuestionId.make("nq/test/3"),
          question: "who said Question: why?",
          goldenAnswers: ["someone", "one"],
          dataSource: "nq",
          split: "test"
        }
      ])
    })
  )

  it.effect("prefer the plain columns, accept one answer as text, and read dev as validation", () =>
    Effect.gen(function* () {
      const row = {
        id: 5,
        question: " why? ",
        golden_answers: "so",
        reward_model: { ground_truth: { target: ["no"] } },
        metadata: { split: "dev", hops: 2, other: {} }
      }
      assert.deepStrictEqual(yield* reading(`\uFEFF${lines(row)}\r\n\n`, SearchR1.readQuestions), [
        {
          id: Question.QuestionId.make("5"),
          question: "why?",
          goldenAnswers: ["so"],
          dataSource: "questions",
          hops: 2,
          split: "validation"
        }
      ])
    })
  )

  it.effect("get ids that differ, also where merged sets reuse them", () =>
    Effect.gen(function* () {
      const row = (data_source: string) => ({ id: "train_0", question: "q?", golden_answers: ["a"], data_source })
      const ids = (rows: string) =>
        Effect.map(reading(rows, SearchR1.readQuestions), (questions): ReadonlyArray<string> =>
          questions.map((question) => question.id)
        )
      assert.deepStrictEqual(yield* ids(lines(row("nq"), row("hotpotqa"))), ["train_0", "hotpotqa/train_0"])
      assert.deepStrictEqual(yield* ids(lines({ question: "q?", golden_answers: ["a"] })), ["line-1"])
      assert.include(
        yield* messageOf(lines(row("nq"), row("nq"), row("nq"))),
        'data.jsonl:3: id is "nq/train_0"; expected a unique id, but line 2 has it already'
      )
    })
  )

  it.effect("are refused with file, line, field, value and what was expected", () =>
    Effect.gen(function* () {
      const good = { question: "q?", golden_answers: ["a"] }
      for (const [content, expected] of [
        ["", "data.jsonl: expected at least one row; the file is empty"],
        ["\n \n", "data.jsonl: expected at least one row; the file is empty"],
        [`${lines(good)}\n{"question": `, 'data.jsonl:2: {"question": ; expected one JSON object per line'],
        [lines(good, { ...good, question: 7 }), "data.jsonl:2: question is 7; expected string"],
        [
          lines({ question: "q?", golden_answers: [] }),
          "data.jsonl:1: golden_answers is []; expected at least one answer"
        ],
        [lines({ question: "q?" }), "data.jsonl:1: golden_answers is missing; expected at least one answer"],
        [lines({ ...good, question: " " }), 'data.jsonl:1: question is " "; expected a question'],
        [lines({ golden_answers: ["a"] }), "data.jsonl:1: question is missing; expected a question"],
        [lines({ ...good, metadata: { hops: "two" } }), 'data.jsonl:1: metadata.hops is "two"; expected'],
        [lines({ id: 1, contents: "x" }), "data.jsonl:1: question is missing"],
        [lines([1]), "data.jsonl:1: [1]; expected object"]
      ] as const) {
        assert.include(yield* messageOf(content), expected)
      }
    })
  )

  it.effect("are refused when the file is missing", () =>
    Effect.gen(function* () {
      const error = yield* Effect.flip(SearchR1.readQuestions("none.jsonl"))
      assert.include(error.message, "none.jsonl: expected a readable file (")
    }).pipe(Effect.provide(layerFiles(new Map())))
  )
})

describe("corpora", () => {
  it.effect.prop("are read as they were written", [Passages], ([drawn]) =>
    Effect.gen(function* () {
      if (drawn.length === 0) return
      const passages = drawn.map(({ text, title }, index) => ({
        id: `${index}`,
        title: title.replace(/\s+/g, " "),
        text
      }))
      yield* SearchR1.writeCorpus("c.jsonl", passages)
      assert.deepStrictEqual(yield* SearchR1.readCorpus("c.jsonl"), passages)
    }).pipe(Effect.provide(layerFiles(new Map()), { local: true }))
  )

  it.effect("are read with and without quotes around the title", () =>
    Effect.gen(function* () {
      const rows = lines(
        { id: "0", contents: '"Paul Walker"\nan actor\nof films' },
        { id: 1, contents: '"The ""Best"" One"\ntext' },
        { id: 2, contents: '"Heroes" and "Villains"\ntext' },
        { id: 3, contents: "only a title" }
      )
      assert.deepStrictEqual(yield* reading(rows, SearchR1.readCorpus), [
        { id: "0", title: "Paul Walker", text: "an actor\nof films" },
        { id: "1", title: 'The "Best" One', text: "text" },
        {
          id: "2",
          title: '"Heroes" and "Villains"',
          text: "text",
          contents: '"Heroes" and "Villains"\ntext'
        },
        { id: "3", title: "only a title", text: "", contents: "only a title" }
      ])
    })
  )
})

describe("split", () => {
  const toQuestions = (texts: ReadonlyArray<string>) =>
    texts.map((question, index) => ({
      id: Question.QuestionId.make(`${index}`),
      question,
      goldenAnswers: ["a"] as const,
      dataSource: "s"
    }))

  it.prop(
    "puts each question in one part, equal texts together, whatever else there is",
    [Schema.Array(Trimmed)],
    (drawn) => {
      const [texts] = drawn
      const parts = SearchR1.split(toQuestions([...texts, ...texts]))
      const partOf = (text: string) =>
        (["train", "validation", "test"] as const).filter((part) =>
          parts[part].some((question) => question.question === text)
        )
      assert.strictEqual(parts.train.length + parts.validation.length + parts.test.length, 2 * texts.length)
      for (const text of texts) {
        assert.lengthOf(partOf(text), 1)
        assert.lengthOf(SearchR1.split(toQuestions([text]))[partOf(text)[0] ?? "train"], 1)
      }
    }
  )

  it("keeps to what rows say and comes near the shares elsewhere", () => {
    const questions = toQuestions(Array.from({ length: 2000 }, (_, index) => `question ${index}?`))
    const hashed = SearchR1.split(questions)
    assert.approximately(hashed.train.length, 1600, 80)
    assert.approximately(hashed.validation.length, 200, 60)
    const [question] = questions
    if (question !== undefined) assert.lengthOf(SearchR1.split([{ ...question, split: "test" }]).test, 1)
  })
})
