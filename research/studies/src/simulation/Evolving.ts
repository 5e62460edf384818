/** Simulates a rule with evolution, on the state machine of a run. Only rollouts and the proposer are simulated. */
import { Array as Arr, Option } from "effect"
import { type Instruction, Invariant, RandomStream } from "@inspo/domain"
import { Schedule } from "@inspo/evolution"
import * as Evolution from "@inspo/evolution"
import { Population } from "@inspo/population"
import { Verification } from "@inspo/verification"
import { draw } from "./Normal.ts"
import { assign } from "./Loop.ts"
import type { Budget, Rule } from "./Rules.ts"
import * as World from "./World.ts"

/** How candidates enter: without verification, or as in the paper. */
export interface Entry {
  readonly strategy: Verification.Interface
  /** The questions that each candidate is asked. */
  readonly questions: number
  readonly resetsWindows: boolean
}

export const untried: Entry = {
  strategy: Verification.untried({ rounds: 1, fill: false }),
  questions: 0,
  resetsWindows: false
}

/** As in the paper, on questions that are drawn at random. */
export const verified = (rounds: number, fill: boolean): Entry => ({
  strategy: Verification.storedBaseline({ rounds, fill }),
  questions: 200,
  resetsWindows: true
})

export interface Outcome {
  /** The mean value of the instructions of all rollouts for training. */
  readonly training: number
  /** The value of the instruction that is returned. */
  readonly returned: number
  /** The highest value of a member at the end. */
  readonly best: number
  /** The rollouts for verification. */
  readonly verification: number
}

const size = 7
const candidates = 6
const evolveEvery = 15
/** Values of the first members and, relative to the parent, of candidates: means and standard deviations. */
export const spread = { members: [0.35, 0.03], candidates: [-0.02, 0.04], drift: 0.0025 } as const

/** Simulates a run. The values of members and candidates are drawn at random; all improve with the policy, which no outcome counts. */
export const simulate = (rule: Rule, entry: Entry, budget: Budget, seed: number): Outcome => {
  const rollOut = World.open(
    World.make({ values: [spread.members[0]], question: 0.25, interaction: 0.05, drift: spread.drift }),
    seed
  )
  const script = scripted(entry, seed)
  const schedule = Schedule.ofSettings({
    population: { size, parents: 1 },
    schedule: { pruneEvery: rule.pruneEvery, evolveEvery, evolveUntil: budget.steps - 6 }
  })
  let state = Evolution.begin(script.first)
  const valueOf = (id: Instruction.InstructionId) => script.valueIn(state.population, id)
  let training = 0
  let rollouts = 0
  for (let step = 1; step <= budget.steps; step++) {
    const before = rule.valuation.values(state.population)
    const draws = assign(rule, budget, before, { seed, step })
    for (const id of draws.flat()) {
      rollouts += 1
      training += valueOf(id)
    }
    const answers = rollOut({ step, draws, samples: rule.samples(budget), valueOf })
    const groups = answers.map(({ instructionId, ...answer }) => ({
      ...answer,
      instruction: instructionId,
      stratum: ""
    }))
    state = Evolution.endUnit(schedule, Evolution.observe(Population.comparing(rule.averaging), state, step, groups))
    const values = rule.ranking === "before" ? before : rule.valuation.values(state.population)
    state = settle(contextOf(rule, entry, values, script.storedParentMean(state.population)), schedule, state, script)
  }
  const best = Option.getOrThrow(rule.valuation.best(state.population)).instruction.id
  return {
    training: training / rollouts,
    returned: valueOf(best),
    best: Math.max(...Population.ids(state.population).map(valueOf)),
    verification: script.verification()
  }
}

/** What evolution decides with, under a rule and how candidates enter. */
export const contextOf = (
  { admission, removal }: Rule,
  { questions, strategy }: Entry,
  values: ReadonlyArray<Population.Value>,
  storedParentMean: (parent: Instruction.InstructionId) => number
): Evolution.DecisionContext => ({
  strategies: { removal, admission, verification: strategy },
  values,
  settings: { population: { size } },
  protectedIds: new Set(),
  generationOf: () => 0,
  verification: {
    asks: questions > 0,
    evidence: ({ stage }) => ({
      ...(stage.scores ?? { candidates: stage.candidates.map(() => []), parent: null }),
      storedParentMean: storedParentMean(stage.parent)
    })
  }
})

/** All decisions that follow a step. */
const settle = (
  context: Evolution.DecisionContext,
  schedule: Schedule.Schedule,
  before: Evolution.EvolutionState,
  { propose, verify }: Pick<Script, "propose" | "verify">
): Evolution.EvolutionState => {
  let state = before
  for (;;) {
    const { due, evolution, population } = state
    const decision = Evolution.decide(context, state)
    if (decision !== null) state = Evolution.apply(schedule, state, decision)
    else if (due === "Conclude") state = Evolution.rest(state)
    else if (Evolution.isIn(evolution, "Proposing"))
      state = Evolution.apply(schedule, state, propose(population, evolution))
    else if (Evolution.isIn(evolution, "Verifying"))
      state = Evolution.apply(schedule, state, verify(population, evolution))
    else return state
  }
}

type Script = ReturnType<typeof scripted>

/** The values of all texts, a proposer, and the scores of verification. */
const scripted = (entry: Entry, seed: number) => {
  const stream = RandomStream.make(seed, ["proposals"])
  const values = new Map<string, number>()
  let verification = 0
  const add = (text: string, [middle, deviation]: readonly [number, number]) =>
    values.set(text, Math.min(0.9, Math.max(0.02, middle + deviation * draw(stream))))
  const first = Arr.makeBy(size, World.instruction)
  for (const { text } of first) add(text, spread.members)

  const worth = (text: string) => Invariant.get(values, text, "value")
  const valueIn = ({ members }: Population.Contents, id: Instruction.InstructionId) => {
    const member = members.find(({ instruction }) => instruction.id === id)
    return worth(Invariant.present(member, "member").instruction.text)
  }
  const improved = ({ step }: Population.Contents) => spread.drift * step
  return {
    first,
    valueIn,
    verification: () => verification,
    storedParentMean: (population: Population.Contents) => (parent: Instruction.InstructionId) =>
      valueIn(population, parent) + improved(population),
    propose: (
      population: Population.Contents,
      { parents, round, step }: Evolution.EvolutionIn<"Proposing">
    ): Evolution.EvolutionEvent => {
      const parent = Invariant.at(parents, 0, "parent")
      const written = Arr.makeBy(candidates, (place) => ({
        text: `candidate ${step}.${round}.${place}`,
        rationale: ""
      }))
      const [below, deviation] = spread.candidates
      for (const { text } of written) add(text, [valueIn(population, parent) + below, deviation])
      return { _tag: "CandidatesProposed", step, round, parent, candidates: written, reflected: [] }
    },
    verify: (
      population: Population.Contents,
      { round, stage, step }: Evolution.EvolutionIn<"Verifying">
    ): Evolution.EvolutionEvent => {
      verification += stage.candidates.length * entry.questions
      const scores = stage.candidates.map(({ text }) =>
        Arr.makeBy(entry.questions, () => (stream.next() < worth(text) + improved(population) ? 1 : 0))
      )
      const questions = Arr.makeBy(entry.questions, World.questionId)
      return { _tag: "CandidatesVerified", step, round, questions, candidates: scores, parent: null }
    }
  }
}
