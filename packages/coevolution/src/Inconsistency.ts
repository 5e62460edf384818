/** Rules that several settings must satisfy together. */
import { Learners, ProposerModel } from "@inspo/reflection"
import { Agents } from "@inspo/rollout"
import { Equal } from "effect"
import { type Algorithm, initialSize, sharesGroups } from "./Algorithm.ts"
import { ConfigError } from "./ConfigError.ts"
import * as Rounds from "./Rounds.ts"
import * as UpdateRules from "./internal/UpdateRules.ts"

/** The first rule that an algorithm breaks, or null. */
export const inconsistency = (algorithm: Algorithm): ConfigError | null => {
  for (const rule of rules) {
    const broken = rule(algorithm)
    if (broken !== null) return broken
  }
  return null
}

type Rule = (algorithm: Algorithm) => ConfigError | null

const parentsHavePlaces: Rule = ({ population }) =>
  population.parents <= population.size
    ? null
    : new ConfigError({
        field: "population.parents",
        value: String(population.parents),
        expected: `at most population.size (${population.size})`,
        remedy: "Lower population.parents or raise population.size."
      })

const seedsHavePlaces: Rule = (algorithm) =>
  algorithm.variants.length < initialSize(algorithm)
    ? null
    : new ConfigError({
        field: "variants",
        value: `a list of ${algorithm.variants.length}`,
        expected: `at most ${initialSize(algorithm) - 1}, the size of the first population without seedInstruction`,
        remedy: "Shorten the list, raise population.size, or set control.policyFirst to null."
      })

const trainingIsWithinSteps: Rule = ({ control, schedule, train }) => {
  if (train.fromStep === null) return null
  if (train.fromStep > schedule.steps)
    return new ConfigError({
      field: "train.fromStep",
      value: String(train.fromStep),
      expected: `at most schedule.steps (${schedule.steps})`,
      remedy: "Lower train.fromStep, so that at least the last step trains."
    })
  return control.policyFirst === null || control.policyFirst >= train.fromStep
    ? null
    : new ConfigError({
        field: "control.policyFirst",
        value: String(control.policyFirst),
        expected: `at least train.fromStep (${train.fromStep})`,
        remedy: "Raise control.policyFirst, or set it to null to train until the end."
      })
}

/** The likelihood ratios of Eq. 2 hold for the policy at temperature 1. */
const sampledAsTrained: Rule = ({ rollout, train }) =>
  rollout.temperature === 1 || train.fromStep === null
    ? null
    : new ConfigError({
        field: "rollout.temperature",
        value: String(rollout.temperature),
        expected: `1, which the policy update assumes, because train.fromStep is ${train.fromStep}`,
        remedy: "Set it to 1, or set train.fromStep to null to evolve instructions under the frozen policy."
      })

const drawsAreWhole: Rule = (algorithm) =>
  Number.isInteger(Rounds.draws(algorithm)) && Rounds.draws(algorithm) >= 0
    ? null
    : new ConfigError({
        field: "train.keep.draws",
        value: String(Rounds.draws(algorithm)),
        expected: "a whole number of batches, at least 0",
        remedy: "Set it to the most further batches of a step, or to 0."
      })

/** What the settings of further rounds and of earlier successes cannot be combined with. */
const roundsAreOfOneInstruction: Rule = (algorithm) => {
  const { control, population, rollout, train } = algorithm
  const refuse = (field: string, value: unknown, expected: string) =>
    new ConfigError({ field, value: JSON.stringify(value), expected, remedy: `Set ${field} so, or ${used?.off}.` })
  const used = replacing(algorithm)
  if (used === null || train.fromStep === null) return null
  if (sharesGroups(algorithm))
    return refuse(
      "rollout.instructionsPerQuestion",
      "samples",
      `a number, because ${used.name} needs groups of one instruction`
    )
  if (used.rounds && train.staleness > 0)
    return refuse("train.staleness", train.staleness, `0, because ${used.name} samples after the rewards of a step`)
  const { rescue } = rollout
  if (rescue === null) return null
  const agent = Agents.fromConfig(rollout)
  if (agent.restarts === true || agent.promptsDiffer === true)
    return refuse(
      "rollout.agent",
      rollout.agent.name,
      "another agent, because its prompts are of one rollout and its instruction, so no other can be trained under them"
    )
  if (population.size === 1)
    return refuse("population.size", 1, "at least 2, because rollout.rescue samples under another one")
  if (control.policyFirst !== null)
    return refuse(
      "control.policyFirst",
      control.policyFirst,
      "null, because rollout.rescue samples under another instruction"
    )
  return rescue.members < rollout.groupSize
    ? null
    : refuse(
        "rollout.rescue.members",
        rescue.members,
        `less than rollout.groupSize (${rollout.groupSize}), so that groups differ`
      )
}

/** The first setting by which training needs groups of one instruction, and how it is turned off. */
const replacing = (algorithm: Algorithm) => {
  const { replay, rollout } = algorithm
  if (Rounds.draws(algorithm) > 0) return { name: "train.keep.draws", off: "train.keep.draws to 0", rounds: true }
  if (rollout.rescue !== null) return { name: "rollout.rescue", off: "rollout.rescue to null", rounds: true }
  return replay.successes > 0 ? { name: "replay.successes", off: "replay.successes to 0", rounds: false } : null
}

const selectionIsValidated: Rule = ({ evaluation }) =>
  evaluation.select === "last" || evaluation.every > 0
    ? null
    : new ConfigError({
        field: "evaluation.every",
        value: "0",
        expected: `a positive number, because evaluation.select is ${evaluation.select}`,
        remedy: "Set it to the steps between validations, or evaluation.select to last."
      })

const miniBatchFits: Rule = ({ rollout, train }) => {
  const unitsPerStep = train.miniBatch.name === "questions" ? train.batchSize : train.batchSize * rollout.groupSize
  return train.miniBatch.size <= unitsPerStep
    ? null
    : new ConfigError({
        field: "train.miniBatch.size",
        value: String(train.miniBatch.size),
        expected: `at most ${unitsPerStep} ${train.miniBatch.name}, the batch of a step`,
        remedy: "Lower train.miniBatch.size or raise train.batchSize."
      })
}

const agentHasItsTools: Rule = ({ rollout }) => {
  const { requiredTools } = Agents.fromConfig(rollout)
  if (requiredTools === undefined || Equal.equals(rollout.tools, requiredTools)) return null
  const expected = `[${requiredTools.join(", ")}]`
  return new ConfigError({
    field: "rollout.tools",
    value: JSON.stringify(rollout.tools),
    expected: `${expected}, because rollout.agent is ${rollout.agent.name}`,
    remedy: `Set rollout.tools to ${expected}, or choose another rollout.agent.`
  })
}

const groupsFitAgent: Rule = ({ rollout }) => {
  const { groupSize = 1 } = Agents.fromConfig(rollout)
  return rollout.groupSize >= groupSize
    ? null
    : new ConfigError({
        field: "rollout.groupSize",
        value: String(rollout.groupSize),
        expected: `at least ${groupSize}, because rollout.agent is ${rollout.agent.name} with these parameters`,
        remedy: "Raise it, or change the parameters of rollout.agent."
      })
}

const demonstrationsAreTurns: Rule = ({ control, rollout }) =>
  control.demonstrations === null || Agents.fromConfig(rollout).asides === undefined
    ? null
    : new ConfigError({
        field: "rollout.agent",
        value: rollout.agent.name,
        expected:
          "an agent that writes nothing but turns, because control.demonstrations replaces what the policy writes",
        remedy: "Set it to search-r1, or control.demonstrations to null."
      })

const learningHasModel: Rule = ({ proposer: { kind, model } }) =>
  Learners.fromConfig(kind) === undefined || model.name !== ProposerModel.offline
    ? null
    : new ConfigError({
        field: "proposer.model",
        value: model.name,
        expected: `a language model, because proposer.kind is ${kind.name}`,
        remedy: "Name one, or set proposer.kind to reflection."
      })

/** In the order in which they are checked. */
const rules: ReadonlyArray<Rule> = [
  parentsHavePlaces,
  seedsHavePlaces,
  trainingIsWithinSteps,
  sampledAsTrained,
  UpdateRules.broken,
  drawsAreWhole,
  roundsAreOfOneInstruction,
  selectionIsValidated,
  miniBatchFits,
  agentHasItsTools,
  groupsFitAgent,
  demonstrationsAreTurns,
  learningHasModel
]
