import { plural } from "@inspo/report"
import { SearchR1, WorldQuestion } from "@inspo/datasets"
import { Effect, Option, Path } from "effect"
import { worldCounts } from "../config/Data.ts"
import { fromInput, type Input } from "../config/Input.ts"
import { usageError } from "../Failure.ts"
import * as Reporter from "../terminal/Reporter.ts"
import { refuseExisting, replace } from "./Output.ts"

export interface WorldInput extends Omit<Input, "file"> {
  readonly out: string
  readonly force: boolean
}

/** Writes the world that a run with these settings would generate: its questions with their parts, and its corpus. */
export const world = Effect.fn("World.world")(function* ({ force, out, ...input }: WorldInput) {
  const path = yield* Path.Path
  const files = { questions: path.join(out, "questions.jsonl"), corpus: path.join(out, "corpus.jsonl") }
  const { data, randomSeed } = yield* fromInput({ ...input, file: Option.none() })
  yield* refuseExisting(Object.values(files), force)
  const generated = yield* WorldQuestion.generate({
    seed: data.world.randomSeed ?? randomSeed,
    counts: worldCounts(data.world.questions)
  }).pipe(Effect.mapError((cause) => usageError(`${cause.message}.`, cause)))
  const questions = (["train", "validation", "test"] as const).flatMap((split) =>
    generated.questions[split].map((question): SearchR1.FileQuestion => ({ ...question, split }))
  )
  yield* replace(files.questions, (temporary) => SearchR1.writeQuestions(temporary, questions))
  yield* replace(files.corpus, (temporary) => SearchR1.writeCorpus(temporary, generated.passages))
  const counts = { questions: questions.length, passages: generated.passages.length }
  yield* Reporter.print({ ...files, counts }, () => [
    `${plural(counts.questions, "question")} in ${files.questions}`,
    `${counts.passages} passages in ${files.corpus}`
  ])
})
