import type { Trajectory } from "@inspo/domain"
import { type Grammar, withoutTags } from "../ActionParser.ts"
import type { Agent } from "../Agent.ts"
import { retrieveFirst } from "./Rag.ts"
import * as ToolLoop from "./ToolLoop.ts"

/**
 * The agent `ircot`: thoughts and searches interleaved. The result of a search for the question is part of the prompt.
 * Then the policy writes one sentence at a time, each of which is a query, until it answers or `maxTurns` sentences have
 * been queries; the turn after them ends only with an answer.
 */
export const agent: Agent<"ircot"> = {
  name: "ircot",
  description: "is `rag` with one more search for each sentence of its reasoning",
  source: "IRCoT, arXiv 2212.10509",
  tools: () => ["search"],
  maximumTokens: ToolLoop.maximumTokens,
  make: (environment) => {
    const { maxTurns } = environment.config
    const grammar = (turn: number) => (turn < maxTurns ? sentence : answer)
    return retrieveFirst(environment, ToolLoop.loop(environment, { maxTurns, grammar }))
  }
}

/** An answer in its tags, or the sentence, without tags, as a query. */
const parse = (text: string): Trajectory.Action => {
  const answer = /<answer>((?:(?!<\/?answer>)[^])*)<\/answer>/.exec(text)?.[1]?.trim() ?? ""
  if (answer !== "") return { kind: "answer", content: answer }
  const query = withoutTags(text)
  return query === "" ? { kind: "invalid", content: "" } : { kind: "search", content: query }
}

const openAnswer = /<answer>(?:(?!<\/answer>)[^])*$/

const answer: Grammar = {
  stop: ["</answer>"],
  parse,
  // A name in an answer may contain what looks like the end of a sentence.
  goesOn: (text) => (openAnswer.test(text) ? answer.stop : [])
}

/** A search follows a full stop or the end of a block. */
const sentence: Grammar = { ...answer, stop: [".", "?", "!", "</think>", "</search>", "</answer>"] }
