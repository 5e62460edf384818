import { SeededRandom } from "@inspo/domain"
import { Effect, Random } from "effect"

/** The prompts of a shop's chat bot, each with its success rate, which the program has to find. */
const successRates: ReadonlyMap<string, number> = new Map([
  ["Answer the customer.", 0.35],
  ["Answer the customer in one sentence.", 0.4],
  ["Ask which order it is about, then answer the customer.", 0.65],
  ["Be creative and entertaining.", 0.2],
  ["Answer the customer. Apologise twice.", 0.3],
  ["Quote the terms of service.", 0.25],
  ["Ask which order it is about, look it up, then answer the customer.", 0.8],
  ["Answer the customer. Take a deep breath.", 0.35]
])

export const prompts: ReadonlyArray<string> = [...successRates.keys()]

/** One conversation with the bot: 1 if it helps the customer, else 0. */
export const converse = (prompt: string, conversation: ReadonlyArray<string | number>): Effect.Effect<0 | 1> =>
  Random.next.pipe(
    Effect.map((luck) => (luck < (successRates.get(prompt) ?? 0) ? 1 : 0)),
    SeededRandom.withStream(1, ["conversation", prompt, ...conversation])
  )
