import { plural } from "@inspo/report"
import { SearchR1 } from "@inspo/datasets"
import { ClauseBank } from "@inspo/reflection"
import { Effect, Option, Ref, Stream } from "effect"
import * as Reporter from "../terminal/Reporter.ts"
import { refuseExisting, replace } from "./Output.ts"

export interface ConvertInput {
  readonly file: string
  readonly out: string
  readonly instruction: Option.Option<string>
  readonly force: boolean
}

/** Writes the questions of a file in the format that the name of another asks for, in bounded memory. */
export const convert = Effect.fn("Convert.convert")(function* ({ file, force, instruction, out }: ConvertInput) {
  yield* refuseExisting([out], force)
  const count = yield* Ref.make(0)
  const questions = SearchR1.questions(file, { prompts: true }).pipe(Stream.tap(() => Ref.update(count, (n) => n + 1)))
  yield* replace(out, (temporary) =>
    SearchR1.writeStream(
      temporary,
      questions,
      Option.getOrElse(instruction, () => ClauseBank.seedInstruction)
    )
  )
  const written = yield* Ref.get(count)
  yield* Reporter.print({ file: out, questions: written }, () => [`${plural(written, "question")} in ${out}`])
})
