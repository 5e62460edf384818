/** The rollouts of a probe: those with which a run would begin, without training. */
import { type Group, type Instruction, type Question, RandomStream } from "@inspo/domain"
import { Bookkeeping, Ledger } from "@inspo/ledger"
import { type Algorithm, Perform, type RunData, TrajectoryStore } from "@inspo/coevolution"
import { Effect } from "effect"
import type { ProposerFailure } from "@inspo/reflection"
import * as Probe from "./Probe.ts"

export interface Options extends TrajectoryStore.Limits, Pick<Probe.Evidence, "runGroups" | "trains"> {
  readonly algorithm: Algorithm
  readonly data: RunData
  /** At most so many, at least two for each instruction in each half. */
  readonly groups: number
}

/** What a probe found, with the instructions that have a group: the seed first. */
export interface Probed {
  readonly instructions: readonly [Instruction.Instruction, ...ReadonlyArray<Instruction.Instruction>]
  readonly groups: ReadonlyArray<Group.Group>
  readonly failed: { readonly trajectories: number; readonly tokens: number }
  readonly proposerFailure: ProposerFailure | undefined
}

/**
 * The first population of a run with these settings, and groups of rollouts of its instructions with the policy as it is. They share the
 * first half of the groups, and the second, unless the seed needs it (`Probe.needsSeed`). The seed is the first of the instructions. Equal
 * settings and data give equal requests. Work is booked, repeated and refused as in a run.
 */
export const probe = Effect.fn("ProbeRollouts.probe")(function* ({
  algorithm,
  data,
  groups,
  runGroups,
  trains,
  ...limits
}: Options) {
  const bookkeeping = yield* Bookkeeping.make(limits.budget ?? Ledger.unlimited)
  const store = yield* TrajectoryStore.make(algorithm, bookkeeping, limits)
  const { initialise } = yield* Perform.Propose.make(algorithm, data, store, bookkeeping)
  const { failure, instructions } = yield* initialise({
    _tag: "Initialise",
    seeds: [algorithm.seedInstruction, ...algorithm.variants],
    size: algorithm.population.size
  })
  const [seed, ...variants] = instructions
  const ids = new Set(data.train.map(({ id }) => id))
  const questions = RandomStream.make(algorithm.randomSeed, ["probe"]).shuffle([...ids])
  const { collect } = Perform.Rollouts.make(algorithm, data, store)
  const ask = (part: number, asked: ReadonlyArray<Question.QuestionId>, some: ReadonlyArray<Instruction.Instruction>) =>
    collect(
      {
        instructions,
        plan: {
          _tag: "StepPlanned",
          step: part,
          questions: asked.flatMap((question) => some.map(() => question)),
          assignment: asked.flatMap(() => some.map(({ id }) => id)),
          values: [],
          probabilities: {},
          learningRate: 0
        }
      },
      "now"
    )

  const count = Probe.share(Math.floor(groups / 2), instructions.length, questions.length)
  const first = yield* ask(0, questions.slice(0, count), instructions)
  const remaining = groups - count * instructions.length
  const underSeed = Probe.countsOf(first.groups, seed.id)
  const some = Probe.needsSeed({ trains, runGroups, seed: underSeed }) ? [seed] : instructions
  const left = questions.slice(count)
  const second = yield* ask(1, left.slice(0, Probe.share(remaining, some.length, left.length)), some)

  const all = [...first.groups, ...second.groups]
  const failed = [first, second].flatMap((part) => part.failed ?? [])
  const probed: Probed = {
    instructions: [seed, ...variants.filter(({ id }) => all.some(({ instructionId }) => instructionId === id))],
    groups: all,
    failed: {
      trajectories: failed.reduce((sum, { trajectories }) => sum + trajectories.length, 0),
      tokens: failed.reduce((sum, { tokens }) => sum + tokens, 0)
    },
    proposerFailure: failure
  }
  return probed
})
