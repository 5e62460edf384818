import { plural } from "@inspo/report"
import { Sample, SearchR1, type Shares } from "@inspo/datasets"
import { ClauseBank } from "@inspo/reflection"
import { Effect, Path, Stream } from "effect"
import { usageError } from "../Failure.ts"
import * as Reporter from "../terminal/Reporter.ts"
import { refuseExisting, replace } from "./Output.ts"

export interface SplitInput extends Shares.Shares {
  readonly file: string
  readonly out: string
  readonly seed: number
  readonly force: boolean
}

/** Writes the parts of a question file, in its own format. */
export const split = Effect.fn("Split.split")(function* (input: SplitInput) {
  const { file, force, out, seed, test, train, validation } = input
  const shares = { train, validation, test }
  if (Object.values(shares).some((share) => share < 0) || train + validation + test <= 0)
    return yield* usageError(
      `The shares are ${train}, ${validation} and ${test}; expected none below 0, and at least one above 0.`
    )
  const path = yield* Path.Path
  const fileOf = (part: string) => path.join(out, `${part}${SearchR1.isParquet(file) ? ".parquet" : ".jsonl"}`)
  const names = (["train", "validation", "test"] as const).filter((part) => shares[part] > 0)
  yield* refuseExisting(names.map(fileOf), force)

  const questions = yield* Stream.runCollect(SearchR1.questions(file, { prompts: true }))
  const parts = Sample.split(questions, { seed, shares })
  const written = yield* Effect.forEach(names, (part) => {
    const members = (parts[part] ?? []).map((question): SearchR1.FileQuestion => ({ ...question, split: part }))
    const write = (temporary: string) =>
      SearchR1.writeStream(temporary, Stream.fromIterable(members), ClauseBank.seedInstruction)
    return Effect.as(replace(fileOf(part), write), { part, file: fileOf(part), questions: members.length })
  })
  yield* Reporter.print({ seed, parts: written }, () =>
    written.map((part) => `${plural(part.questions, "question")} in ${part.file}`)
  )
})
