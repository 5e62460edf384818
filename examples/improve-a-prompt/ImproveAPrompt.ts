import type { Question } from "@inspo/domain"
import { CandidateLint } from "@inspo/reflection"
import { ModelProposer } from "@inspo/reflection/models"
import { Verification } from "@inspo/verification"
import { Effect } from "effect"
import type { LanguageModel } from "effect/ai"
import * as FrozenAgent from "./FrozenAgent.ts"

/** `agent` answers questions, `writer` writes prompts; both may be the same model. */
export interface Options {
  readonly agent: LanguageModel.LanguageModel
  readonly writer: LanguageModel.LanguageModel
  readonly prompt: string
  readonly training: ReadonlyArray<Question.Question>
  readonly heldOut: ReadonlyArray<Question.Question>
  readonly candidates: number
}

/** The better prompt, or the old one if no candidate was better, with the verdict on each. */
export interface Improvement {
  readonly prompt: string
  readonly critique: string
  readonly candidates: ReadonlyArray<{ readonly text: string; readonly verdict: Verification.Verdict }>
  readonly rejected: ReadonlyArray<CandidateLint.Rejection>
}

/**
 * One round of reflection and verification: the proposer reads the agent's failures and writes candidates. The best one
 * replaces the old prompt if it scores higher on the same unseen questions.
 */
export const improve = Effect.fn("ImproveAPrompt.improve")(function* (options: Options) {
  const { agent, heldOut, prompt, training, writer } = options
  const answers = (instruction: string, questions: ReadonlyArray<Question.Question>) =>
    Effect.forEach(questions, (question) => FrozenAgent.attempt(agent)(instruction, question), { concurrency: 4 })

  const failures = (yield* answers(prompt, training)).filter(({ reward }) => reward === 0).map(FrozenAgent.failure)
  if (failures.length === 0) return unchanged(prompt)

  const rules = { seed: prompt, known: [prompt], parent: prompt, ...CandidateLint.shown(failures) }
  const proposer = ModelProposer.make(writer, {
    kind: "reflection",
    price: null,
    maxOutputTokens: 2048,
    maxEvidenceTokens: 4096
  })
  const { candidates, critique } = yield* proposer.propose({
    parent: { text: prompt },
    records: failures,
    history: [],
    count: options.candidates,
    seed: 1,
    stream: ["improve", 1],
    rules
  })
  // Reject candidates that contain answers or lack the protocol's tags before any request.
  const { accepted, rejected } = CandidateLint.lint(candidates, rules)

  // Run the old prompt on the same questions: a stored score would come from other, perhaps easier ones.
  const score = (text: string) => Effect.map(answers(text, heldOut), (all) => all.map(({ reward }) => reward))
  const rule = Verification.rerunParent({ rounds: 1, fill: false })
  const verdicts = rule.judge({
    parent: yield* score(prompt),
    candidates: yield* Effect.forEach(accepted, ({ text }) => score(text)),
    storedParentMean: null
  })
  const judged = accepted.flatMap(({ text }, index) => {
    const verdict = verdicts[index]
    return verdict === undefined ? [] : [{ text, verdict }]
  })
  // `not worse` is enough to enter a population; to replace a prompt, a candidate has to be better.
  const better = judged.filter(({ verdict }) => verdict.score > 0).map(({ text, verdict }) => ({ ...verdict, text }))
  const [best] = rule.refill({ places: 1, verified: better }).chosen
  return { prompt: best?.text ?? prompt, critique, candidates: judged, rejected } satisfies Improvement
})

const unchanged = (prompt: string): Improvement => ({
  prompt,
  critique: "There was no failure to learn from.",
  candidates: [],
  rejected: []
})
