import { Ablations } from "@inspo/coevolution"
import { type RunConfig, algorithmOf, staticConfig, withAlgorithm } from "@inspo/config"
import { ClauseBank } from "@inspo/reflection"
import { type Arm, single, withBudgetOf } from "../Arm.ts"
import { configure, type Task, tasks } from "../gate/Tasks.ts"
import type { Study } from "../Study.ts"

/** Does evolution of the instruction help a frozen policy on a task of the gate? */
const frozen = (task: Task): Study => {
  const name = (arm: string) => `${task.name}-${arm}`
  const onTask = (config: RunConfig, left: ReadonlyArray<Ablations.Part> = []): RunConfig => {
    const configured = configure(task, config)
    return withAlgorithm(
      configured,
      Ablations.without(
        {
          ...algorithmOf(configured),
          seedInstruction: task.instructions[0],
          variants: [],
          control: { ...config.control, clauses: ClauseBank.ofSentences(task.sentences) }
        },
        ["training", ...left]
      )
    )
  }
  const arms: ReadonlyArray<Arm> = [
    single(name("evolved"), "instructions evolve from the plain one", (config) => onTask(config)),
    withBudgetOf(name("evolved"), name("seed"), "the plain instruction alone", (config, rollouts) =>
      staticConfig(onTask(config), rollouts)
    ),
    single(name("random"), "random clauses of the same bank", (config) => onTask(config, ["reflection"])),
    single(name("paraphrase"), "candidates from the parent alone", (config) => onTask(config, ["failures"])),
    withBudgetOf(name("evolved"), name("hand-written"), "the best of five instructions by hand", (config, rollouts) =>
      handWritten(task, onTask(config), rollouts)
    )
  ]
  return {
    name: `frozen-${task.name}`,
    title: `Instructions for a frozen policy: ${task.name}`,
    arms,
    frozen: true,
    main: arms.map((arm) => arm.name),
    comparisons: ["seed", "random", "paraphrase", "hand-written"].map((other) => [name("evolved"), name(other)]),
    notes: [
      `The task: ${task.asks}. \`seed\` and \`hand-written\` get the same number of rollouts as \`evolved\`. ` +
        "`hand-written` is only pruned; no instructions are added."
    ],
    // Another seed than the gate's, so that the questions are new.
    questions: (data, count) => task.questions(data, count, 2)
  }
}

/** Only pruning, from the hand-written instructions to one. */
const handWritten = (
  { instructions: [seedInstruction, ...variants] }: Task,
  config: RunConfig,
  rollouts: number
): RunConfig => {
  const fixed = staticConfig(config, rollouts)
  return {
    ...fixed,
    seedInstruction,
    variants,
    population: { ...fixed.population, size: 1 + variants.length },
    schedule: { ...fixed.schedule, pruneEvery: config.schedule.pruneEvery }
  }
}

/** One study for each task of the gate but those that need training. */
export const frozenStudies: ReadonlyArray<Study> = tasks.filter(({ isRare }) => isRare !== true).map(frozen)
