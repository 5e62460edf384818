/** Simulates the search for a first reward, on the state machine of a run and with its offline proposer. Only rollouts are simulated. */
import { Array as Arr, Effect } from "effect"
import { type Instruction, Invariant, RandomStream } from "@inspo/domain"
import type { Settings } from "@inspo/evolution"
import * as Evolution from "@inspo/evolution"
import { Population } from "@inspo/population"
import { ClauseBank, layerRuleBased, Proposer, type ProposerError } from "@inspo/reflection"
import { contextOf, untried } from "./Evolving.ts"
import { assign } from "./Loop.ts"
import { type Budget, type Rule, rulesFor } from "./Rules.ts"
import * as World from "./World.ts"

export interface Task {
  readonly seedInstruction: string
  /** What proposals are made of. */
  readonly sentences: ReadonlyArray<string>
  /** The chance that an answer under an instruction is rewarded. */
  readonly chanceOf: (text: string) => number
}

export interface Outcome {
  /** The step of the first reward; null without one. */
  readonly step: number | null
  /** The instructions that were members until then. */
  readonly instructions: number
}

/** Simulates a run until its first reward. Equal arguments give equal outcomes. */
export const simulate = (
  task: Task,
  schedule: Settings["schedule"],
  budget: Budget,
  seed: number
): Effect.Effect<Outcome, ProposerError> =>
  Effect.gen(function* () {
    const proposer = yield* Proposer
    const rule = rulesFor(budget).groups
    const due = Evolution.Schedule.ofSettings({ population: { size, parents: 1 }, schedule })
    const answers = RandomStream.make(seed, ["answers"])
    const known = new Map<Instruction.InstructionId, string>()
    const { candidates } = yield* proposer.initial({
      parent: { text: task.seedInstruction },
      count: size - 1,
      seed,
      stream: ["initial"]
    })
    let state = Evolution.begin([task.seedInstruction, ...candidates.map(({ text }) => text)].map(instruction))
    for (let step = 1; step <= budget.steps; step++) {
      for (const { id, text } of Population.instructions(state.population)) known.set(id, text)
      const values = rule.valuation.values(state.population)
      const groups = assign(rule, budget, values, { seed, step }).flatMap((drawn, question) =>
        drawn.map((id): Evolution.Group => {
          const chance = task.chanceOf(Invariant.get(known, id, "text"))
          const rewards = Arr.makeBy(rule.samples(budget), () => (answers.next() < chance ? 1 : 0))
          return { instruction: id, question: World.questionId(question), stratum: "", rewards, missing: 0 }
        })
      )
      if (groups.some(({ rewards }) => rewards.includes(1))) return { step, instructions: known.size }
      state = Evolution.endUnit(due, Evolution.observe(Population.comparing(rule.averaging), state, step, groups))
      state = yield* settle(proposer, rule, due, state, known, seed)
    }
    return { step: null, instructions: known.size }
  }).pipe(
    Effect.provide(layerRuleBased),
    Effect.provideService(ClauseBank.Bank, ClauseBank.ofSentences(task.sentences))
  )

/** All decisions that follow a step, and what the proposer writes for them. */
const settle = Effect.fnUntraced(function* (
  proposer: Proposer.Interface,
  rule: Rule,
  due: Evolution.Schedule.Schedule,
  before: Evolution.EvolutionState,
  known: ReadonlyMap<Instruction.InstructionId, string>,
  seed: number
) {
  let state = before
  for (;;) {
    const { evolution } = state
    const context = contextOf(rule, untried, rule.valuation.values(state.population), () => 0)
    const decision = Evolution.decide(context, state)
    if (decision !== null) state = Evolution.apply(due, state, decision)
    else if (state.due === "Conclude") state = Evolution.rest(state)
    else if (!Evolution.isIn(evolution, "Proposing")) return state
    else {
      const { round, step } = evolution
      const parent = Invariant.at(evolution.parents, 0, "parent")
      const { candidates } = yield* proposer.propose({
        parent: { text: Invariant.get(known, parent, "text") },
        records: [],
        history: Array.from(known, ([id, text]) => ({ instruction: { id, text }, score: 0 })),
        count: Math.min(mostCandidates, Evolution.mostNewcomers(context, state)),
        seed,
        stream: ["proposal", step]
      })
      state = Evolution.apply(due, state, {
        _tag: "CandidatesProposed",
        step,
        round,
        parent,
        candidates,
        reflected: []
      })
    }
  }
})

const instruction = (text: string, place: number): Instruction.Instruction => ({ ...World.instruction(place), text })

/** As in the preset `quick`. */
const size = 7
const mostCandidates = 6
