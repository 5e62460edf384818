/** What the calls of a chat model as the policy can cost, before anything is spent. */
import type { Plan } from "@inspo/analysis"
import type { RunConfig } from "@inspo/config"
import { ModelName, Prices } from "@inspo/reflection"
import { Chat, type Question } from "@inspo/domain"
import { Agents, Prompt } from "@inspo/rollout"
import { Array as Arr, Number, Schema } from "effect"

const bounds = <S extends Schema.Schema<number>>(value: S) => Schema.Struct({ min: value, max: value })

/**
 * Calls and cost of the policy, without repetitions: each rollout answers in its first turn (`min`, and its answer is free), or
 * uses up its turns, and each turn its limits (`max`). `usd` is null if the price is not known.
 */
export const PolicyPlan = Schema.Struct({
  model: Schema.String,
  calls: bounds(Schema.Int),
  usd: Schema.NullOr(bounds(Schema.Finite))
})
export interface PolicyPlan extends Schema.Schema.Type<typeof PolicyPlan> {}

/** The plan of a chat model's calls; null where an engine is the policy. */
export const make = (
  config: RunConfig,
  { bounds: { verification }, rollouts }: Plan.Forecast,
  questions: ReadonlyArray<Question.Question>
): PolicyPlan | null => {
  const name = config.policy.model === null ? null : ModelName.parse(config.policy.model)
  if (name === null) return null
  const { maxObservationTokens, maxResponseTokens, maxTurns } = config.rollout
  const agent = Agents.fromConfig(config.rollout)
  const turns = agent.turns?.(maxTurns) ?? maxTurns + 1
  const asides = agent.asides?.(turns) ?? 0
  const prompt = meanPrompt(config, questions)
  const inputs = Number.sumAll(Arr.makeBy(turns, (turn) => prompt + turn * (maxResponseTokens + maxObservationTokens)))
  const aside = prompt + maxObservationTokens
  const each = { input: inputs + asides * aside, output: (turns + asides) * maxResponseTokens }
  const known = rollouts.train + rollouts.evaluation
  const [least, most] = [known + verification.min, known + verification.max]
  const price = Prices.priceOf(name.model, config.budget.prices)
  const min = Prices.usd(price, { input: least * prompt, output: 0 })
  const max = Prices.usd(price, { input: most * each.input, output: most * each.output })
  return {
    model: name.model,
    calls: { min: least, max: most * (turns + asides) },
    usd: min === null || max === null ? null : { min, max }
  }
}

/** Tokens of the first prompt, as estimated, under the seed instruction. */
const meanPrompt = ({ rollout, seedInstruction }: RunConfig, questions: ReadonlyArray<Question.Question>): number => {
  const sizes = questions.map((question) =>
    Number.sumAll(
      Prompt.messages({ text: seedInstruction }, question, rollout).map(({ content }) => Chat.estimateTokens(content))
    )
  )
  return Math.round(Number.sumAll(sizes) / Math.max(1, sizes.length))
}
