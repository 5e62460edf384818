import { Ablations } from "@inspo/coevolution"
import { type RunConfig, algorithmOf, staticConfig, withAlgorithm } from "@inspo/config"
import { ClauseBank } from "@inspo/reflection"
import { type Arm, against, beginningWith, endingWith, having, rolloutsOf, single } from "../Arm.ts"
import { configure, letter, type Task } from "../gate/Tasks.ts"
import type { Study } from "../Study.ts"
import { constant } from "./Arms.ts"
import { plainSelectionParts } from "./StaticVsEvolved.ts"
import { orders, whole } from "./Together.ts"

const [, best, ...singles] = letter.instructions

/** The settings of a task; instructions evolve from the plain one with the clauses of its bank. */
export const onTask = (task: Task, config: RunConfig): RunConfig => {
  const configured = configure(task, config)
  const algorithm = algorithmOf(configured)
  return withAlgorithm(configured, {
    ...algorithm,
    rollout: { ...algorithm.rollout, maxPromptTokens: 256 },
    seedInstruction: task.instructions[0],
    variants: [],
    control: { ...config.control, clauses: ClauseBank.ofSentences(task.sentences) }
  })
}

/** An arm at the learning rate that did best on the seeds of tuning. */
const atItsRate = (arm: Arm): Arm => {
  const learningRate = arm.name === "letter-static" ? 1e-4 : 1e-3
  return { ...arm, stages: endingWith((config) => having(config, "train", { learningRate }), arm.stages) }
}

/** The plain instruction of a task alone. */
export const fixedOn = (task: Task, config: RunConfig): RunConfig =>
  staticConfig(onTask(task, config), rolloutsOf(config))

const onLetter = (config: RunConfig): RunConfig => onTask(letter, config)

const arms: ReadonlyArray<Arm> = (
  [
    single("letter-evolved", "policy and instruction evolve together", onLetter),
    single("letter-static", "the plain instruction alone", (config) => fixedOn(letter, config)),
    {
      name: "letter-instruction-first",
      description: orders["instruction-first"].description,
      needs: [],
      stages: beginningWith(onLetter, orders["instruction-first"].stages(whole, false))
    },
    single(
      "letter-plain-selection",
      "evolved with the choice of the paper, softmax and halving by means, without its verification",
      (config) => {
        const task = onLetter(config)
        // Verification would take further rollouts.
        return withAlgorithm(task, Ablations.without(task, [...plainSelectionParts, "verification"]))
      }
    ),
    single("letter-unselected", "control: the plain instruction and every clause alone, with equal shares", (config) =>
      constant(onLetter(config), singles)
    ),
    single("letter-hand-written", "the best instruction of the gate alone", (config) => ({
      ...fixedOn(letter, config),
      seedInstruction: best
    })),
    single("letter-searching", "evolved, after each step until something is rewarded", (config) =>
      having(onLetter(config), "schedule", { searchEvery: 1 })
    )
  ] satisfies ReadonlyArray<Arm>
).map(atItsRate)

/** Do instructions start the training of a policy that hardly ever earns the reward? research/docs/real-model.md has the results. */
export const trainedLetter: Study = {
  name: "trained-letter",
  title: "A reward that plain training hardly ever sees",
  arms,
  main: arms.flatMap(({ name }) => (name === "letter-searching" ? [] : [name])),
  comparisons: against(
    "letter-evolved",
    arms.slice(1).map(({ name }) => name)
  ),
  notes: [`The task: ${letter.asks}. All arms have equal rollouts.`],
  // Another seed than that of the gate of `letter`, so that the questions are new.
  questions: (count) => letter.questions(count, 2),
  takesOff: true
}
