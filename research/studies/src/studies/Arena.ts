import { type RunConfig, staticConfig } from "@inspo/config"
import { Rules } from "@inspo/evolution"
import { Losses } from "@inspo/policy-gradient"
import type { Population } from "@inspo/population"
import { ClauseBank } from "@inspo/reflection"
import { Sampler } from "@inspo/sampler"
import { Admission, Removal } from "@inspo/successive-halving"
import { Schema } from "effect"
import {
  type Arm,
  atRates,
  beginningWith,
  found,
  having,
  inFewerGroups,
  rolloutsOf,
  single,
  spentIn,
  unevaluated,
  withRate
} from "../Arm.ts"
import { seedShare } from "../strategies/SeedShare.ts"
import * as DiscountedThompson from "../strategies/DiscountedThompson.ts"
import * as TrueSkill from "../strategies/TrueSkill.ts"
import type { Study } from "../Study.ts"
import { constant, evolved } from "./Arms.ts"
import { frozen, type Name, orders } from "./Together.ts"

const rollout = (config: RunConfig, change: Partial<RunConfig["rollout"]>): RunConfig =>
  having(config, "rollout", change)

/** Windows of all steps, from which a strategy of a study computes what it needs. */
const remembering = (config: RunConfig): RunConfig => having(config, "selection", { window: 1_000_000 })

/** A valuation by what the settings keep of each step. */
const valuation = (config: RunConfig, strategy: Omit<Population.Interface, "observe">): Population.Interface => ({
  ...strategy,
  observe: Rules.valuations.questions({ ...config.selection, ...config.population, asks: false }).observe
})

/** The rollouts of the preset, less those that verify: a candidate of every evolution is asked six questions once. */
const paper: Arm = single("arena-paper", "the rules of the paper, INSPO (2512.01945)", (config) => {
  const verified = 6
  const evolveEvery = Math.max(1, Math.round(config.schedule.steps / 20))
  const evolveUntil = Math.floor(config.schedule.steps / 2)
  const spent = Math.floor(evolveUntil / evolveEvery) * config.proposer.candidates * verified
  return {
    ...rollout(config, { instructionsPerQuestion: 1 }),
    selection: { ...Rules.sets.paper, rounds: 1 },
    verification: { samples: verified },
    schedule: {
      ...config.schedule,
      steps: Math.max(
        2,
        config.schedule.steps - Math.round(spent / (config.train.batchSize * config.rollout.groupSize))
      ),
      pruneEvery: 1,
      evolveEvery,
      evolveUntil,
      searchEvery: 0
    }
  }
})

/** Four prompts, each on every question, so that a group has a prompt's own baseline; the lower half by skill leaves. */
const espl: Arm = {
  ...single("arena-espl", "E-SPL (2602.14697): all prompts on each question, TrueSkill", (config) =>
    having(remembering(rollout(config, { instructionsPerQuestion: 4 })), "population", { size: 4, parents: 2 })
  ),
  strategies: (config) => ({
    valuation: valuation(config, TrueSkill.strategy),
    removal: Removal.bottomHalf(config.population),
    admission: Admission.allOthers(),
    sampler: Sampler.make({
      rule: "softmax",
      temperature: 1e9,
      assignment: "stratified",
      sharing: { _tag: "Groups", instructionsPerQuestion: 4 }
    })
  })
}

const fst: Arm = single("arena-fst", "FST (2605.12484): bursts of evolution, CISPO, KL", (config) => ({
  ...config,
  schedule: {
    ...config.schedule,
    evolveEvery: 9,
    evolveUntil: Math.max(1, config.schedule.steps - config.selection.window)
  },
  selection: { ...config.selection, rounds: 3 },
  train: {
    ...config.train,
    loss: Schema.decodeSync(Losses.Loss)("cispo"),
    kl: { name: "loss", coefficient: 0.01 },
    miniBatch: { ...config.train.miniBatch, size: Math.max(1, Math.floor(config.train.batchSize / 2)) }
  }
}))

const thompson = (): Sampler.Interface =>
  Sampler.make({
    rule: "thompson",
    assignment: "stratified",
    sharing: { _tag: "Groups", instructionsPerQuestion: 1 }
  })

const p2o: Arm = {
  ...single("arena-p2o", "P²O (2603.21877): evolve on failures, distil successes into the seed's prompt", (config) =>
    rollout(inFewerGroups(config), { instructionsPerQuestion: 1, rescue: { attempts: 5, members: 2 } })
  ),
  strategies: () => ({ sampler: seedShare(thompson(), "half-seed", () => 1 / 2) })
}

const reskill: Arm = {
  ...single("arena-reskill", "ReSkill (2606.01619): a group is split between versions, discounted Thompson", (config) =>
    having(remembering(rollout(config, { instructionsPerQuestion: "samples" })), "train", {
      advantage: { name: "centred" }
    })
  ),
  strategies: (config) => ({ valuation: valuation(config, DiscountedThompson.strategy) })
}

/** Every clause of the bank with equal shares, to the end. */
const augmentation: Arm = single(
  "arena-augmentation",
  "2602.03190: many prompts with equal shares, none chosen",
  (config) => {
    return constant(
      config,
      ClauseBank.clauses.map(({ texts: [text] }) => `${config.seedInstruction} ${text}`)
    )
  }
)

const withdrawn: Arm = {
  ...single("arena-withdrawn", "2602.03143, 2604.07747: evolved hints that are withdrawn", (config) =>
    rollout(config, { instructionsPerQuestion: 1 })
  ),
  strategies: ({ schedule }) => ({
    sampler: seedShare(thompson(), "withdrawn", (step) => Math.min(1, step / (0.8 * schedule.steps)))
  })
}

const ordered = (
  order: Exclude<Name, "evolved" | "static">,
  name: string,
  change = (config: RunConfig) => config
): Arm => ({
  name,
  description: orders[order].description,
  needs: [],
  stages: beginningWith(
    change,
    orders[order].stages(({ config }) => rolloutsOf(config), false)
  )
})

/** Several parents, drawn at random: what is left of GEPA without a front over questions. */
const asGepa = (config: RunConfig): RunConfig =>
  having(having(config, "selection", { parent: "random" }), "population", { parents: 3 })

/** The policy for a third of the rollouts, then instructions under it, then the policy again with the best one. */
const weightsPromptWeights: Arm = {
  name: "arena-wpw",
  description: "BetterTogether (2407.10930): weights, prompt, weights",
  needs: [],
  carriesPolicy: true,
  stages: [
    ({ config }) => unevaluated(staticConfig(config, rolloutsOf(config) / 3)),
    ({ config, policy = null }) => ({
      ...frozen(config, Math.round(config.schedule.steps / 3)),
      engine: { ...config.engine, model: policy }
    }),
    (context) => ({
      ...staticConfig(context.config, rolloutsOf(context.config) - spentIn(context.earlier, "rollouts")),
      engine: { ...context.config.engine, model: context.policy ?? null },
      seedInstruction: found(context)
    })
  ]
}

const rivals: ReadonlyArray<Arm> = [
  paper,
  espl,
  fst,
  p2o,
  reskill,
  augmentation,
  withdrawn,
  ordered("instruction-first", "arena-pw"),
  ordered("policy-first", "arena-wp"),
  ordered("alternating", "arena-pwp"),
  weightsPromptWeights,
  ordered("instruction-first", "arena-gepa-before", asGepa),
  ordered("policy-first", "arena-gepa-after", asGepa)
]

const arms: ReadonlyArray<Arm> = [evolved, ...rivals]

/** The rate of each arm with the largest mean EM in `arena-tuning`, where it is another than that of most. */
const tuned: Readonly<Record<string, number>> = { "arena-espl": 1e-3, "arena-fst": 1e-4, "arena-wpw": 1e-4 }

const nameOf = (name: string): string => `${name}-tuned`

const notes = ["The plan, committed before the runs, is research/plans/arena.md."]

/** Does a published way to combine prompts with a training policy beat ours? */
export const arena: Study = {
  name: "arena",
  title: "Rivals in one arena",
  arms: arms.map((arm) => withRate(arm, nameOf, tuned[arm.name] ?? 3e-4)),
  main: [],
  comparisons: [],
  claims: rivals.map(({ name }) => [nameOf(name), nameOf(evolved.name)] as const),
  notes,
  measures: [{ metric: "kl", title: "KL to the start", digits: 4 }]
}

export const arenaTuning: Study = {
  name: "arena-tuning",
  title: "The learning rate of each rival",
  arms: atRates(arms),
  main: [],
  comparisons: [],
  notes: [...notes, "This study selects settings; it is no result."]
}
