import { Invariant, type Question, Spent, Trajectory } from "@inspo/domain"
import { Engine, type EngineProfile } from "@inspo/engine"
import { Journal, Records } from "@inspo/journal"
import { type Episode, Rollout } from "@inspo/rollout"
import { Array as Arr, Effect, Ref, Schema } from "effect"
import type { Bookkeeping } from "@inspo/ledger/Bookkeeping"
import * as Agents from "@inspo/rollout/agents/Agents"
import type { Algorithm } from "./Algorithm.ts"
import * as Ledger from "@inspo/ledger/Ledger"

/**
 * So many rollouts of one collection failed that the others no longer stand for them: an episode that calls no tool cannot
 * fail by one. Those that did not fail are stored, and a resumed run asks for the rest again.
 */
export class TooManyFailures extends Schema.TaggedError<TooManyFailures>()("TooManyFailures", {
  failed: Schema.Int,
  total: Schema.Int,
  allowed: Schema.Finite,
  example: Schema.String
}) {
  override get message() {
    return (
      `rollouts: ${this.failed} of ${this.total} failed, expected at most ${100 * this.allowed} %. One of them: ` +
      `${this.example}. What went well is stored; remove the cause and resume the run`
    )
  }
}

/** What a run may spend, and what stops it before it learns from too little. */
export interface Limits {
  /** The most it may spend; what it takes unless it is said. */
  readonly budget?: Ledger.Limits | undefined
  /** What the reward can spend on an answer to a question at most, as one that asks a judge does; nothing unless it is said. */
  readonly scoringAtMost?: ((question: Question.Question) => Spent.Spent) | undefined
  /** How many of the rollouts asked for at once may fail by a tool or reward, from 0 to 1; a tenth unless it is said. */
  readonly maxFailedShare?: number | undefined
}

const defaultMaxFailedShare = 0.1

/** Trajectories with their tokens and texts, kept in the journal's records and booked in its ledger. */
export const make = Effect.fnUntraced(function* (
  algorithm: Algorithm,
  bookkeeping: Bookkeeping,
  { maxFailedShare = defaultMaxFailedShare, scoringAtMost = () => Spent.nothing }: Limits
) {
  const journal = yield* Journal
  const records = Records.make(journal, "trajectory", Trajectory.Trajectory)
  const rollout = yield* Rollout
  const { profile } = yield* Engine

  /** What was collected last: a step is trained on at once, and need not be read again. */
  const latest = yield* Ref.make<ReadonlyMap<string, Trajectory.Trajectory>>(new Map())

  /** The trajectories of `ids`, in their order; fails when one is not stored. */
  const read = Effect.fnUntraced(function* (ids: ReadonlyArray<Trajectory.TrajectoryId>) {
    const known = yield* Ref.get(latest)
    const stored = yield* records.get(ids.filter((id) => !known.has(id)))
    return yield* Effect.forEach(ids, (id) =>
      Effect.mapError(Effect.fromNullishOr(known.get(id) ?? stored.get(id)), () =>
        Records.corrupt(
          journal.meta,
          `trajectory ${id}, which an event names, is not among the records; restore the journal from a copy`
        )
      )
    )
  })

  const put = (step: number, trajectories: ReadonlyArray<Trajectory.Trajectory>) =>
    records.put(
      step,
      trajectories.map((trajectory) => ({ key: trajectory.id, value: trajectory }))
    )

  const rollOut = buying({ atMost: mostOf(algorithm, profile, scoringAtMost), bookkeeping, rollout, profile, put })

  /**
   * One trajectory per episode, in order. Those already paid for are read, the others rolled out and stored on arrival;
   * those that failed are stored once it is known that they are few.
   */
  const collect = Effect.fn("TrajectoryStore.collect")(function* (
    phase: Ledger.Phase,
    step: number,
    episodes: ReadonlyArray<Episode>
  ) {
    const known = yield* records.get(episodes.map(({ id }) => id))
    const missing = episodes.filter(({ id }) => !known.has(id))
    const collected = yield* rollOut(phase, step, missing)
    const failed = collected.filter((one) => Trajectory.isFailed(one))
    if (failed.length > maxFailedShare * episodes.length)
      return yield* new TooManyFailures({
        failed: failed.length,
        total: episodes.length,
        allowed: maxFailedShare,
        example: failed[0]?.failure ?? "no reason was given"
      })
    yield* put(step, failed)
    for (const trajectory of collected) known.set(trajectory.id, trajectory)
    yield* Ref.set(latest, known)
    return episodes.map(({ id }) => Invariant.get(known, id, "the trajectory"))
  })

  return { read, collect }
})

/** Rolls episodes out, some at a time, and stores on arrival those that did not fail. */
const buying = <E>({ atMost, bookkeeping, profile, put, rollout }: Buying<E>) => {
  const atOnce = chunkSize(bookkeeping.limits, profile)
  return Effect.fnUntraced(function* (phase: Ledger.Phase, step: number, episodes: ReadonlyArray<Episode>) {
    const chunks = yield* Effect.forEach(Arr.chunksOf(episodes, atOnce), (some) =>
      bookkeeping.payEach(
        phase,
        Ledger.needs.rollouts(some.length),
        some.map((episode) => ({ key: episode.id, most: atMost(episode) })),
        (settle) =>
          rollout.collect(some, {
            onFinished: Effect.fnUntraced(function* (finished) {
              yield* settle(finished.map((one) => [one.id, costOf(one)]))
              yield* put(
                step,
                finished.filter((one) => !Trajectory.isFailed(one))
              )
            })
          })
      )
    )
    return chunks.flat()
  })
}

interface Buying<E> {
  /** What an episode can cost at most. */
  readonly atMost: (episode: Episode) => Ledger.Amounts
  readonly bookkeeping: Bookkeeping
  readonly rollout: Rollout["Service"]
  readonly profile: EngineProfile
  readonly put: (step: number, trajectories: ReadonlyArray<Trajectory.Trajectory>) => Effect.Effect<void, E>
}

/**
 * Episodes that are bought at a time, which end before the next begin. What is in flight may be overspent, so a metered run
 * buys no more at once than the engine plays at once.
 */
const chunkSize = (limits: Ledger.Limits, { concurrency }: EngineProfile): number =>
  Math.max(1, concurrency) * (Ledger.isMetered(limits) ? 1 : 4)

/** What an episode can cost at most. */
const mostOf = (
  { rollout }: Algorithm,
  { contextLength }: EngineProfile,
  scoringAtMost: (question: Question.Question) => Spent.Spent
) => {
  const { maximumTokens = (_, contextLength) => contextLength } = Agents.fromConfig(rollout)
  const played = { ...Ledger.nothing, rollouts: 1, tokens: maximumTokens(rollout, contextLength) }
  return ({ question }: Episode) => Ledger.add(played, Ledger.ofSpent(scoringAtMost(question)))
}

const costOf = (trajectory: Trajectory.Trajectory): Ledger.Amounts =>
  Ledger.add(
    { ...Ledger.nothing, rollouts: 1, tokens: Trajectory.tokens(trajectory) },
    Ledger.ofSpent(trajectory.scoring ?? Spent.nothing)
  )

/** What {@link make} gives. */
export type TrajectoryStore = Effect.Success<ReturnType<typeof make>>
