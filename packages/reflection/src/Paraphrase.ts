import type { Layer } from "effect"
import * as ClauseEdit from "./ClauseEdit.ts"
import * as Drawing from "./internal/Drawing.ts"
import type { Proposer } from "./Proposer.ts"

/**
 * The offline counterpart of a paraphrasing proposer (APE): rules, not a language model.
 *
 * It sees the parent alone. What the parent advises is put in other words of the bank, and clauses that concern no
 * behaviour come and go; what it asks of the policy stays the same. It begins as the rule-based proposer does.
 */
export const layerParaphrase: Layer.Layer<Proposer> = Drawing.layer("Paraphrase", (bank) => ({
  critique: "The same advice in other words.",
  edit: (parent) => ClauseEdit.paraphrase(bank, parent),
  reason: () => "to say it otherwise"
}))
