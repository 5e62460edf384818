import { Effect } from "effect"
import { conversations, distance, masked, requests, score } from "./Conversations.ts"
import { type LawOf, scoringLaw } from "./Law.ts"

/** Laws of `score`: what was sampled is what training sees. */
export const scoringLaws: ReadonlyArray<LawOf> = [
  scoringLaw(
    "sampled log-probabilities are those that training sees, observations in between or not",
    (engine, expect, settings) =>
      Effect.gen(function* () {
        const all = yield* conversations(engine, settings)
        const scores = yield* score(engine, all)
        for (const [index, conversation] of all.entries()) {
          const apart = distance(masked(conversation.logprobs, conversation), scores[index])
          yield* expect(
            apart <= settings.tolerance,
            `sequence ${index} differs by ${apart}, allowed ${settings.tolerance}`
          )
        }
      })
  ),

  scoringLaw(
    "log-probabilities of tokens sampled at another temperature are those at temperature 1",
    (engine, expect, settings) =>
      Effect.gen(function* () {
        const all = requests(engine, settings).map((request) => ({ ...request, n: 1, temperature: 0.5, topP: 0.8 }))
        const sampled = (yield* engine.sample(all)).flatMap(({ sequences }) => sequences)
        const scores = yield* engine.score(
          "current",
          sampled.map(({ tokens }, index) => ({ prompt: all[index]?.prompt ?? [], response: tokens }))
        )
        for (const [index, { logprobs }] of sampled.entries()) {
          const apart = distance(logprobs, scores[index])
          yield* expect(
            apart <= settings.tolerance,
            `sequence ${index} differs by ${apart}, allowed ${settings.tolerance}`
          )
        }
      })
  )
]
