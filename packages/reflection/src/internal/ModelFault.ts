import { PlainText, type Spent } from "@inspo/domain"
import type { AiError } from "effect/ai"
import { type ModelAnswer, ProposerError } from "../Proposer.ts"
import * as Provider from "../Provider.ts"

/** The language model could not be asked, or not be understood. */
export const fromAiError = (proposer: string, error: AiError.AiError, spent: Spent.Spent): ProposerError =>
  new ProposerError({
    proposer,
    kind: Provider.kindOf(error),
    reason: Provider.explain(error),
    spent
  })

/** The proposer, or a filter of its provider, declined. */
export const refused = (proposer: string, { spent, text }: ModelAnswer): ProposerError =>
  new ProposerError({
    proposer,
    kind: "refused",
    spent,
    reason:
      `the proposer's model refused to write${text === "" ? "" : ` (${excerpt(text)})`}; ` +
      "look at the questions and passages of the failures, or choose another model"
  })

/** Nothing was found between tags, also after asking again. */
export const nothingFound = (
  proposer: string,
  { end, text }: Pick<ModelAnswer, "end" | "text">,
  spent: Spent.Spent
): ProposerError => {
  if (end === "cut")
    return new ProposerError({
      proposer,
      kind: "cut",
      spent,
      reason:
        "the proposer's model reached the limit of tokens before its first candidate was complete, twice; " +
        "raise maxOutputTokens, which covers its thoughts too"
    })
  if (text.trim() === "")
    return new ProposerError({
      proposer,
      kind: "empty",
      spent,
      reason: "the proposer's model answered with no text, twice; raise maxOutputTokens, or choose another model"
    })
  return new ProposerError({
    proposer,
    kind: "no-candidates",
    spent,
    reason:
      `no candidate could be found in what the proposer's model wrote (${excerpt(text)}), twice; expected <ins_1>…</ins_1>. ` +
      "Choose a more capable model, or look at the prompts"
  })
}

const excerpt = (text: string): string => {
  const line = text.trim().replace(/\s+/gu, " ")
  return PlainText.escape(JSON.stringify(line.length <= 120 ? line : `${line.slice(0, 120)}…`))
}
