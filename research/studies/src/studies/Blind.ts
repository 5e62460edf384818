import type { RunConfig } from "@inspo/config"
import { type Arm, beginningWith, endingWith, having, inFewerGroups, single } from "../Arm.ts"
import { tasks } from "../blind/BlindTasks.ts"
import type { Task } from "../gate/Tasks.ts"
import type { Study } from "../Study.ts"
import { fixedOn, onTask } from "./Letter.ts"
import { orders, whole } from "./Together.ts"

/** The rate at which the arms of `letter` that learn did best. */
const learningRate = 1e-3

/** From the plain instruction, with pieces of the bank; instructions change after each step until something is rewarded. */
const searching = (task: Task, config: RunConfig): RunConfig =>
  having(onTask(task, config), "schedule", { searchEvery: 1 })

const armsOf = (task: Task): ReadonlyArray<Arm> => {
  const named = (arm: string) => `${task.name}-${arm}`
  const arms: ReadonlyArray<Arm> = [
    single(named("evolved"), "policy and instruction evolve together, with the search for a first reward", (config) =>
      searching(task, config)
    ),
    single(named("static"), "the plain instruction alone", (config) => fixedOn(task, config)),
    {
      name: named("instruction-first"),
      description:
        "the instruction evolves under the frozen policy, with the search, then the policy trains with the best one",
      needs: [],
      stages: beginningWith((config) => searching(task, config), orders["instruction-first"].stages(whole, false))
    },
    single(named("rescue"), "evolved, with rescue of groups that failed; at most equal rollouts", (config) =>
      having(searching(task, inFewerGroups(config)), "rollout", { rescue: { attempts: 1, members: 1 } })
    ),
    single(named("hand-written"), "the instruction of a person who knows the reward", (config) => ({
      ...fixedOn(task, config),
      seedInstruction: task.instructions[1]
    }))
  ]
  return arms.map((arm) => ({
    ...arm,
    stages: endingWith((config) => having(config, "train", { learningRate }), arm.stages)
  }))
}

/** A study for each reward, of which those that the gate lets pass are run. */
export const blindStudies: ReadonlyArray<Study> = tasks.map((task) => ({
  name: task.name,
  title: `A real model, blind: ${task.asks}`,
  arms: armsOf(task),
  comparisons: [],
  notes: ["The plan, committed before the runs, is research/plans/blind.md."],
  questions: (count) => task.questions(count, 2),
  takesOff: true
}))
