import { Effect, Layer } from "effect"
import * as ClauseEdit from "./ClauseEdit.ts"
import * as Drawing from "./internal/Drawing.ts"
import { Proposer } from "./Proposer.ts"

/**
 * The offline counterpart of a paraphrasing optimizer (APE): rules, not a language model.
 *
 * It sees the parent alone. What the parent advises is put in other words of the bank, and clauses that concern no
 * behaviour come and go; what it asks of the policy stays the same. It begins as the rule-based optimizer does.
 */
export const layerParaphrase: Layer.Layer<Proposer> = Layer.sync(Proposer, () => ({
  initial: Drawing.initial,
  propose: Effect.fn("Paraphrase.propose")((request) =>
    Drawing.propose(request, {
      critique: "The same advice in other words.",
      edit: ClauseEdit.paraphrase,
      reason: () => "to say it otherwise"
    })
  )
}))
