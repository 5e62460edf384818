import { asksOptimizer } from "@inspo/coevolution/Algorithm"
import { ConfigError, unknownPrice } from "@inspo/coevolution/ConfigError"
import { inconsistency as inAlgorithm } from "@inspo/coevolution/Inconsistency"
import * as Prices from "@inspo/reflection/Prices"
import type { RunConfig } from "./RunConfig.ts"

/** The first rule between settings that a config breaks, or null. */
export const inconsistency = (config: RunConfig): ConfigError | null =>
  questionsHaveCorpus(config) ?? inAlgorithm(config) ?? pricesAreKnown(config)

type Rule = (config: RunConfig) => ConfigError | null

const questionsHaveCorpus: Rule = ({ data, retrieval }) =>
  (data.questions === null) === (data.corpus === null) || (data.questions !== null && retrieval.url !== null)
    ? null
    : new ConfigError({
        field: data.questions === null ? "data.questions" : "data.corpus",
        value: "null",
        expected: "a path, because its counterpart is one",
        remedy:
          "Set both data.questions and data.corpus, or neither to use the generated world; data.corpus may be missing " +
          "where retrieval.url is set."
      })

const pricesAreKnown: Rule = (config) => {
  const { prices, usd } = config.budget
  if (usd === null) return null
  const isUnknown = (model: string | null) => Prices.priceOf(model, prices) === null
  if (config.reward.kind === "judge" && isUnknown(config.judge.model)) return unknownPrice("judge", usd)
  return asksOptimizer(config) && isUnknown(config.optimizer.model) ? unknownPrice("optimizer", usd) : null
}
