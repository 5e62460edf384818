import type { RunConfig } from "@inspo/config"
import { type Arm, against, beginningWith, endingWith, having } from "../Arm.ts"
import type { Study } from "../Study.ts"
import * as World from "../worlds/World.ts"
import { type Name, names, type Order, orders, whole } from "./Together.ts"

/**
 * The rate of an arm in a world that did best at the middle dial on the seeds of tuning; of equals, the one nearest to 3. One that is
 * asked for by `train.learningRate` takes its place; rates of language models are too small for a table of logits.
 */
const rateOf = (study: string, order: Name, asked: number): number =>
  asked >= 0.01 ? asked : study === "world-rare" && order === "evolved" ? 3 : 10

const batchSize = 4

/** 960 rollouts of a world, in which instructions evolve from the seed with the advice of the world. */
export const inWorld = (config: RunConfig, model: string, source: string, times = 1): RunConfig => {
  const scaled = (steps: number) => Math.max(1, Math.round(steps * times))
  return {
    ...config,
    seedInstruction: World.seedInstruction,
    variants: [],
    control: { ...config.control, clauses: World.clauses },
    data: { ...config.data, mix: { [source]: 1 } },
    engine: { ...config.engine, model },
    schedule: {
      ...config.schedule,
      steps: scaled(60),
      pruneEvery: scaled(3),
      evolveEvery: scaled(3),
      evolveUntil: scaled(30)
    },
    rollout: {
      ...config.rollout,
      agent: { name: "direct" },
      groupSize: 4,
      maxPromptTokens: 1024,
      maxResponseTokens: 4,
      texts: { ...config.rollout.texts, prompt: "{instruction}\n\n{question}" }
    },
    train: {
      ...config.train,
      batchSize,
      miniBatch: { ...config.train.miniBatch, size: batchSize },
      kl: { name: "none" }
    }
  }
}

const armIn = (study: string, at: string, order: Name, change: (config: RunConfig) => RunConfig): Arm => {
  const { description, stages }: Order = orders[order]
  return {
    name: `${study}-${at}-${order}`,
    description,
    needs: [],
    stages: endingWith(
      (config) => having(config, "train", { learningRate: rateOf(study, order, config.train.learningRate) }),
      beginningWith(change, stages(whole, false))
    )
  }
}

const others = names.filter((order) => order !== "evolved")

const base = {
  comparisons: [],
  notes: ["The plan, committed before the runs, is research/plans/together.md."],
  questions: World.questions,
  source: "first-task"
}

/** A study of a world: every order at every value of its dial, with a figure of the differences. */
const ofDial = (
  name: string,
  title: string,
  values: ReadonlyArray<number>,
  at: (dial: number) => (config: RunConfig) => RunConfig
): Study => {
  const study = `world-${name}`
  const armAt = (dial: number, order: Name) => `${study}-${dial}-${order}`
  const arms = values.flatMap((dial) => names.map((order) => armIn(study, `${dial}`, order, at(dial))))
  return {
    ...base,
    name: study,
    title,
    arms,
    comparisons: values.flatMap((dial) =>
      against(
        armAt(dial, "evolved"),
        others.map((order) => armAt(dial, order))
      )
    ),
    dial: {
      values,
      lines: others.map((order) => ({
        label: `evolved − ${order}`,
        pairs: values.map((dial) => [armAt(dial, "evolved"), armAt(dial, order)] as const)
      }))
    }
  }
}

const titles: Readonly<Record<World.Name, string>> = {
  crutch: "Advice that helps a weak policy and hinders a strong one",
  key: "Advice that hinders a weak policy and helps a strong one",
  rare: "First rewards are rare",
  forget: "What is learned stays with the advice"
}

/** The budgets, in a world where the advice hinders a strong policy as much as the middle of its dial. */
const budgets = ofDial(
  "budget",
  "The budget",
  [0.1, 0.3, 1, 2, 4],
  (times) => (config) => inWorld(config, World.modelOf("crutch", 2), "first-task", times)
)

export const worldStudies: ReadonlyArray<Study> = [
  ...World.names.map((name) =>
    ofDial(
      name,
      titles[name],
      World.dials,
      (dial) => (config) => inWorld(config, World.modelOf(name, dial), "first-task")
    )
  ),
  budgets
]

/** A second task for the policy of the first, for which the advice of the first is useless; `alone` has no first one. */
const second = (order: "evolved" | "static", alone: boolean): Arm => {
  const task = (source: string) => (policy: string | null) =>
    armIn("plasticity", "", order, (config) => inWorld(config, World.modelOf("crutch", 2, policy), source)).stages
  return {
    name: `plasticity-${order}${alone ? "-alone" : ""}`,
    description: `${orders[order].description}${alone ? "" : ", after another task"}`,
    needs: [],
    ...(alone ? {} : { carriesPolicy: true }),
    stages: [
      ...(alone ? [] : task("first-task")(null)),
      (context) => {
        const [last] = task("second-task")(context.policy ?? null)
        return last === undefined ? context.config : last({ ...context, earlier: [] })
      }
    ]
  }
}

const tasks = (["evolved", "static"] as const).flatMap((order) => [second(order, false), second(order, true)])

/** Does a policy that learned with evolving instructions learn a second task as well? */
export const plasticity: Study = {
  ...base,
  name: "plasticity",
  title: "A second task after the first",
  source: "second-task",
  arms: tasks,
  comparisons: [
    ["plasticity-evolved", "plasticity-evolved-alone"],
    ["plasticity-static", "plasticity-static-alone"],
    ["plasticity-evolved", "plasticity-static"]
  ],
  measures: [{ metric: "kl", title: "KL to the start", digits: 4 }]
}
