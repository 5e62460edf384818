import { plural } from "@inspo/report"
import { createHash } from "node:crypto"
import type { RunData } from "@inspo/coevolution"
import type { RunConfig } from "@inspo/config"
import { type DatasetError, Sample, SearchR1, WorldQuestion } from "@inspo/datasets"
import type { Question } from "@inspo/domain"
import { Demonstration } from "@inspo/rollout"
import { Effect, Struct } from "effect"
import { systemWords, type UsageError, usageError } from "../Failure.ts"
import * as Regular from "../runDirectory/Regular.ts"

export interface LoadedData {
  readonly data: RunData
  readonly passages: ReadonlyArray<Question.Passage>
  readonly description: string
}

/** Reads the user's files or generates the world, by the config. Equal configs and files give equal data. */
export const loadData = Effect.fn("Data.load")(function* (config: RunConfig) {
  const { corpus, questions } = config.data
  const loaded = questions === null ? yield* generated(config) : yield* files(config, questions, corpus)
  return config.control.demonstrations === null
    ? loaded
    : { ...loaded, data: { ...loaded.data, demonstrations: yield* demonstrations(config, loaded) } }
})

/** One for each training question; fails if a question has no supporting passages. */
const demonstrations = Effect.fnUntraced(function* ({ control }: RunConfig, { data, passages }: LoadedData) {
  const titles = new Map(passages.map(({ id, title }) => [id, title]))
  return new Map(
    yield* Effect.forEach(data.train, (question) =>
      control.demonstrations === "answers"
        ? Effect.succeed([question.id, Demonstration.answers(question)] as const)
        : Effect.mapBoth(Effect.fromOption(Demonstration.searches(question, titles)), {
            onSuccess: (demonstration) => [question.id, demonstration] as const,
            onFailure: () =>
              usageError(
                `control.demonstrations is searches, but the question ${question.id} has no supporting passages with a ` +
                  "title in the corpus. Expected supportIds in every row. Add them, or set control.demonstrations to answers."
              )
          })
    )
  )
})

const generated = Effect.fnUntraced(function* (config: RunConfig) {
  const { data, randomSeed } = config
  const worldSeed = data.world.randomSeed ?? randomSeed
  const counts = worldCounts(data.world.questions)
  const world = yield* WorldQuestion.generate({ seed: worldSeed, counts }).pipe(
    Effect.mapError((cause) => usageError(`${cause.message}.`, cause))
  )
  return loaded(config, world.questions, world.passages, `a fictional world (seed ${worldSeed})`)
})

/** The sizes of the splits of a generated world, by the number of training questions. */
export const worldCounts = (train: number): WorldQuestion.Counts => ({
  train,
  validation: Math.ceil(train / 10),
  test: Math.ceil(train / 2)
})

const files = Effect.fnUntraced(function* (config: RunConfig, questionFile: string, corpusFile: string | null) {
  // The config of a run directory may name anything.
  for (const file of [questionFile, ...(corpusFile === null ? [] : [corpusFile])])
    yield* Effect.mapError(Regular.assertRegular(file), (cause) =>
      usageError(`${file} cannot be read (${systemWords(cause)}).`, cause)
    )
  const questions = yield* orUsage(SearchR1.readQuestions(questionFile))
  const passages = corpusFile === null ? [] : yield* orUsage(SearchR1.readCorpus(corpusFile))
  const parts = split(questions)
  // Without questions, the sources do not matter.
  const splits = { ...parts, train: parts.train.length === 0 ? [] : yield* weighted(config, parts.train) }
  const { test, train } = splits
  if (train.length === 0 || (test.length === 0 && config.evaluation.questions > 0))
    return yield* usageError(
      `data.questions is ${questionFile}, which has ${plural(questions.length, "question")}: ${train.length} to train on and ` +
        `${test.length} to test on. Expected at least one of each. Add questions, or split them with inspo data split.`
    )
  if (splits.validation.length === 0 && config.evaluation.every > 0)
    return yield* usageError(
      `data.questions is ${questionFile}, which has no validation questions, but evaluation.every is ` +
        `${config.evaluation.every}. Expected some. Add rows of the split validation, or set evaluation.every to 0 and ` +
        "evaluation.select to last."
    )
  return loaded(config, splits, passages, questionFile)
})

/** The splits of the rows, if they have training questions and others; else fixed shares, the same for all seeds. */
const split = (questions: ReadonlyArray<SearchR1.FileQuestion>) => {
  const named = Map.groupBy(questions, (question) => question.split)
  const {
    test = [],
    train = [],
    validation = []
  } = { train: named.get("train"), validation: named.get("validation"), test: named.get("test") }
  if (train.length > 0 && test.length > 0) return { train, validation, test }
  if (train.length > 0 && validation.length > 0) return { train, validation: [], test: validation }
  return SearchR1.split(
    questions.map((question) => Struct.omit(question, ["split"])),
    { train: 1 - validationShare - testShare, validation: validationShare, test: testShare }
  )
}

const validationShare = 0.1
const testShare = 0.2

/** The training questions in the shares of the config. */
const weighted = ({ data, randomSeed: seed }: RunConfig, questions: ReadonlyArray<SearchR1.FileQuestion>) =>
  data.mix === null
    ? Effect.succeed(questions)
    : Effect.mapError(Effect.fromResult(Sample.mix(questions, { seed, shares: data.mix })), (cause) =>
        usageError(`data.mix: ${cause.message}.`, cause)
      )

const orUsage = <A, R>(effect: Effect.Effect<A, DatasetError, R>): Effect.Effect<A, UsageError, R> =>
  Effect.mapError(effect, (cause) => usageError(`${cause.message}.`, cause))

const loaded = (
  { retrieval }: RunConfig,
  splits: Pick<RunData, "train" | "validation" | "test">,
  passages: ReadonlyArray<Question.Passage>,
  description: string
): LoadedData => {
  const { test, train, validation } = splits
  const asked = [train, validation, test].map((questions) =>
    questions.map(({ dataSource, goldenAnswers, id, question }) => [id, question, goldenAnswers, dataSource])
  )
  const fingerprint = createHash("sha256")
    .update(JSON.stringify([asked, passages]))
    .digest("hex")
  const search = retrieval.url === null ? "passages" : "server"
  return { data: { train, validation, test, fingerprint, search }, passages, description }
}
