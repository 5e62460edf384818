import type { Layer } from "effect"
import { type Clause, clausesIn } from "./ClauseBank.ts"
import * as ClauseEdit from "./ClauseEdit.ts"
import * as Drawing from "./internal/Drawing.ts"
import { betterHalf } from "./internal/Tried.ts"
import type { Proposer } from "./Proposer.ts"

/**
 * The offline counterpart of a proposer that sees scores (OPRO): rules, not a language model.
 *
 * It makes the same edits with the same clauses as the rule-based proposer, but instead of failures it looks at the
 * better half of the scored instructions: a clause is the likelier the more of them carry it. Every clause can be drawn.
 */
export const layerHistory: Layer.Layer<Proposer> = Drawing.layer("History", (bank, { history, parent }) => {
  const best = betterHalf(history)
  const present = new Set(clausesIn(parent.text, bank).map(({ id }) => id))
  const carriers = (clause: Clause) =>
    best.filter(({ instruction }) => clause.texts.some((text) => instruction.text.includes(text))).length
  return {
    critique: `Compared ${history.length} scored instructions; the better ${best.length} were followed.`,
    edit: (advised) =>
      ClauseEdit.draw(bank, advised, (clause) => Drawing.smoothing + (present.has(clause.id) ? 0 : carriers(clause))),
    reason: ({ clause }) =>
      carriers(clause) > 0 ? `${carriers(clause)} of the better ${best.length} carry it` : "to try it"
  }
})
