import { type RunConfig, algorithmOf, staticConfig, withAlgorithm } from "@inspo/config"
import { Ablations } from "@inspo/coevolution"
import { type Arm, found, having, single, withBudgetOf } from "../Arm.ts"
import type { Study } from "../Study.ts"
import * as World from "../worlds/World.ts"
import { inWorld } from "./Worlds.ts"

const notes = ["The plan, committed before the runs, is research/plans/agents.md."]

/** Arms that differ in how a training begins where the seed earns next to nothing. `search` has the rollouts of `both`, and `neither` those of `rescue`. */
const starting = (dial: number): ReadonlyArray<Arm> => {
  const name = (arm: string) => `rescue-${dial}-${arm}`
  const configure = (config: RunConfig, searches: boolean, rescues: boolean): RunConfig => {
    const own = inWorld(config, World.modelOf("rare", dial), "first-task")
    const searching = having(own, "schedule", { searchEvery: searches ? 1 : 0 })
    const rescuing = having(searching, "rollout", { rescue: rescues ? { attempts: 2, members: 1 } : null })
    return having(rescuing, "train", { learningRate: 3 })
  }
  const longer = (config: RunConfig, rollouts: number): RunConfig =>
    having(config, "schedule", { steps: Math.ceil(rollouts / (config.train.batchSize * config.rollout.groupSize)) })
  return [
    single(name("both"), "rescues, and searches until a first reward", (config) => configure(config, true, true)),
    single(name("rescue"), "rescues by another instruction alone", (config) => configure(config, false, true)),
    withBudgetOf(name("both"), name("search"), "searches until a first reward alone", (config, rollouts) =>
      longer(configure(config, true, false), rollouts)
    ),
    withBudgetOf(name("rescue"), name("neither"), "neither", (config, rollouts) =>
      longer(configure(config, false, false), rollouts)
    )
  ]
}

const dials = [3, 4, 5]
const starts = dials.flatMap(starting)

/** Does a rescue by another instruction of the population start a training that has no reward? */
const rescue: Study = {
  name: "rescue",
  title: "A rescue by another instruction",
  arms: starts,
  comparisons: dials.flatMap((dial) =>
    ["rescue", "search", "both"].map((arm) => [`rescue-${dial}-${arm}`, `rescue-${dial}-neither`] as const)
  ),
  notes,
  questions: World.questions,
  source: "first-task",
  measures: [{ metric: "groups/mixed", title: "groups with a gradient", digits: 2 }]
}

const agents = ["search-r1", "rag", "iter-research"] as const

const frozenWith = (config: RunConfig, agent: (typeof agents)[number]): RunConfig => ({
  ...withAlgorithm(config, Ablations.without(algorithmOf(config), ["training"])),
  rollout: { ...config.rollout, agent: { name: agent } }
})

/** The test questions under one instruction, with as little else as a run can have. */
const asked = (config: RunConfig, agent: (typeof agents)[number], seedInstruction: string): RunConfig => ({
  ...staticConfig(frozenWith(config, agent), 1),
  seedInstruction
})

const own = agents.map((agent) =>
  single(`agents-${agent}`, `instructions evolve for ${agent}, which uses the best one`, (config) =>
    frozenWith(config, agent)
  )
)

const others = agents.flatMap((agent): ReadonlyArray<Arm> => [
  single(`agents-${agent}-with-seed`, `${agent} uses the seed instruction`, (config) =>
    asked(config, agent, config.seedInstruction)
  ),
  ...agents
    .filter((other) => other !== agent)
    .map((other): Arm => {
      const from = `agents-${other}`
      return {
        name: `agents-${agent}-with-${other}`,
        description: `${agent} uses the instruction that evolved for ${other}`,
        needs: [from],
        stages: [({ config, results }) => asked(config, agent, found({ config, earlier: results(from) }))]
      }
    })
])

/** Does the best instruction differ between agents? */
const transfer: Study = {
  name: "agents",
  title: "The instruction of another agent",
  arms: [...own, ...others],
  frozen: true,
  comparisons: others.map(({ name }) => [name.replace(/-with-.*/u, ""), name]),
  notes
}

export const agentStudies: ReadonlyArray<Study> = [rescue, transfer]
