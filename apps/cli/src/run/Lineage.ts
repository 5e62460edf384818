import { Projection } from "@inspo/analysis"
import { Effect } from "effect"
import { lineageLines } from "../report/LineageReport.ts"
import { readRun } from "../runDirectory/Read.ts"
import * as Reporter from "../terminal/Reporter.ts"

/** Shows the parent of each instruction of a run, the difference between them, and why it was removed. */
export const lineage = Effect.fn("Lineage.lineage")(function* (directory: string) {
  const { events } = yield* readRun(directory)
  const instructions = Projection.candidates(events).flatMap(({ fate, id, leftAt, parent, step, text }) =>
    id === null ? [] : [{ id, parent, text, bornAt: step, fate, leftAt }]
  )
  yield* Reporter.printStyled({ runDir: directory, instructions }, (style) =>
    lineageLines(
      instructions.map(({ bornAt, fate, id, leftAt, parent, text }) => ({
        id,
        parent,
        text,
        title:
          `${id}: ${parent === null ? "" : `from ${parent} at `}step ${bornAt}, ` +
          `${fate}${leftAt === null ? "" : ` at ${leftAt}`}`
      })),
      style
    )
  )
})
