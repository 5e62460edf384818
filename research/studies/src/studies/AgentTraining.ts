import { type RunConfig, staticConfig } from "@inspo/config"
import type { AgentChoice } from "@inspo/rollout"
import { type Arm, spentIn } from "../Arm.ts"
import type { Study } from "../Study.ts"
import { shortened } from "./Together.ts"

type Change = (config: RunConfig) => RunConfig

const train =
  (change: Partial<RunConfig["train"]>): Change =>
  (config) => ({ ...config, train: { ...config.train, ...change } })

const shaping =
  (shaping: RunConfig["reward"]["shaping"]): Change =>
  (config) => ({ ...config, reward: { ...config.reward, shaping } })

const agent =
  (agent: AgentChoice): Change =>
  (config) => ({ ...config, rollout: { ...config.rollout, agent } })

const limit = 400

/** What all others are compared with: the agent of the presets. */
const baseline = "search-r1"

/** Agents and rules that judge turns without a model. Constants without a published value have one here. */
const variants: Readonly<Record<string, ReadonlyArray<Change>>> = {
  [baseline]: [],
  rag: [agent({ name: "rag" })],
  ircot: [agent({ name: "ircot" })],
  "search-o1": [agent({ name: "search-o1" })],
  "iter-research": [agent({ name: "iter-research" })],
  memory: [agent({ name: "memory" })],
  reflect: [agent({ name: "reflect" })],
  anytime: [agent({ name: "anytime" }), train({ credit: { name: "anytime", base: 2, shares: [] } })],
  budgets: [
    agent({ name: "budgets", budgets: [40, 80, 120, 160, 200] }),
    shaping({ name: "budget", limit }),
    train({ advantage: { name: "budgeted", limit, epsilon: 1e-6 } })
  ],
  modes: [agent({ name: "modes", forced: 1 }), shaping({ name: "adaptive-tools", alpha: 2 })],
  lookahead: [agent({ name: "lookahead", width: 2, depth: 1 })],
  delethink: [agent({ name: "delethink", carry: 0.5, chunks: 3, head: 5 })],
  defer: [
    agent({ name: "defer", attempts: 2, expert: "search" }),
    shaping({ name: "costs", prices: { defer: 0.3, create: 0.1 } })
  ],
  graph: [agent({ name: "graph" })],
  information: [train({ credit: { name: "information", beta: 0.2, temperature: 0.2, epsilon: 1e-6 } })],
  evidence: [train({ credit: { name: "evidence", share: 0.4, floor: 0.9 } })]
}
/** With evolving instructions, and with the seed alone. */
const conditions = [
  { named: "", description: "instructions evolve", condition: (config: RunConfig) => config },
  {
    named: "-static",
    description: "the seed instruction alone",
    condition: (config: RunConfig) =>
      staticConfig(config, config.schedule.steps * config.train.batchSize * config.rollout.groupSize)
  }
].map(({ condition, description, named }) => {
  const nameOf = (variant: string) => `training-${variant}${named}`
  const atRollouts = Object.entries(variants).map(([variant, changes]): Arm => ({
    name: nameOf(variant),
    description: `${variant}: ${description}`,
    needs: [],
    stages: [({ config }) => condition(changes.reduce((changed, change) => change(changed), config))]
  }))
  const reference = nameOf(baseline)
  const others = atRollouts.filter(({ name }) => name !== reference)
  return { reference, atRollouts, others, atTokens: others.map((arm) => atTokensOf(reference, arm)) }
})

/** An arm with about the tokens of the reference, by those of its rollouts at equal rollouts. */
function atTokensOf(reference: string, arm: Arm): Arm {
  return {
    ...arm,
    name: `${arm.name}-tokens`,
    description: `${arm.description}, at the tokens of ${baseline}`,
    needs: [reference, arm.name],
    stages: arm.stages.map((configure) => (context) => {
      const tokens = (name: string) => Math.max(1, spentIn(context.results(name), "tokens"))
      return shortened(configure(context), tokens(reference) / tokens(arm.name))
    })
  }
}

/** Which agents and judgements of turns help a policy to learn? */
export const agentTraining: Study = {
  name: "agent-training",
  title: "Agents, trained",
  arms: [...conditions.flatMap(({ atRollouts }) => atRollouts), ...conditions.flatMap(({ atTokens }) => atTokens)],
  main: conditions.flatMap(({ atRollouts }) => atRollouts.map(({ name }) => name)),
  comparisons: conditions.flatMap(({ atTokens, others, reference }) =>
    [...others, ...atTokens].map(({ name }) => [name, reference] as const)
  ),
  notes: ["The plan, committed before the runs, is research/plans/agents.md."],
  measures: [
    { metric: "groups/mixed", title: "groups with a gradient", digits: 2 },
    { metric: "response_length/mean", title: "response length", digits: 1 }
  ]
}
