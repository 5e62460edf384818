/** The events in the file of a search, and files with others that follow the rules of such a file. */
import * as FileJournal from "@inspo/journal/file"
import { Effect } from "effect"

const format = { name: "inspo-evolve", version: 4, of: "a search" }

export const payloadsOf = (file: string): Promise<ReadonlyArray<any>> =>
  Effect.runPromise(
    Effect.scoped(
      Effect.gen(function* () {
        const journal = yield* FileJournal.open({ file, mode: "read-only", format })
        return (yield* journal.read).map(({ payload }) => payload)
      })
    )
  )

export const writeEvents = (file: string, payloads: ReadonlyArray<unknown>): Promise<void> =>
  Effect.runPromise(
    Effect.scoped(
      Effect.gen(function* () {
        const journal = yield* FileJournal.open({ file, mode: "continue", format })
        yield* journal.append(payloads.map((payload) => ({ type: "Event", step: 0, payload })))
      })
    )
  )
