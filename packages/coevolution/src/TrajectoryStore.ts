import { Invariant, type Question, Spent, Trajectory } from "@inspo/domain"
import { Engine, type EngineProfile } from "@inspo/engine"
import { Journal, Records } from "@inspo/journal"
import { type Bookkeeping, Ledger } from "@inspo/ledger"
import { type Agent, Agents, type Episode, Rollout } from "@inspo/rollout"
import { Array as Arr, Effect, Ref, Schema } from "effect"
import type { Algorithm } from "./Algorithm.ts"
import * as ChatCalls from "./ChatCalls.ts"

/**
 * Too many rollouts of one collection failed: the others would be a biased sample, since an episode without tool calls cannot
 * fail by a tool. Completed rollouts are stored, and a resumed run repeats the failed ones.
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
      `${this.example}. Completed rollouts are stored; fix the cause and resume the run`
    )
  }
}

/** The policy wrote nothing in a whole first step: the run would spend its budget and learn nothing. */
export class NothingWritten extends Schema.TaggedError<NothingWritten>()("NothingWritten", {
  rollouts: Schema.Int,
  maxPromptTokens: Schema.Int
}) {
  override get message() {
    return (
      `rollouts: the policy wrote nothing in any of the first ${this.rollouts}. A prompt, with what the agent adds, may have ` +
      `rollout.maxPromptTokens, ${this.maxPromptTokens}, tokens: increase it in a new run, or shorten the instruction`
    )
  }
}

/** The limits of a run: its budget, and the share of rollouts that may fail. */
export interface Limits {
  /** The budget; no limit by default. */
  readonly budget?: Ledger.Limits | undefined
  /** The most that scoring an answer to a question can cost, such as calls of a judge; nothing by default. */
  readonly scoringAtMost?: ((question: Question.Question) => Spent.Spent) | undefined
  /** The share of the rollouts of one collection that may fail by a tool or reward, from 0 to 1; 0.1 by default. */
  readonly maxFailedShare?: number | undefined
}

const defaultMaxFailedShare = 0.1

/** Trajectories with their tokens and texts, stored in the journal's records and charged to its ledger. */
export const make = Effect.fnUntraced(function* (
  algorithm: Algorithm,
  bookkeeping: Bookkeeping.Bookkeeping,
  { maxFailedShare = defaultMaxFailedShare, scoringAtMost = () => Spent.nothing }: Limits
) {
  const journal = yield* Journal
  const records = Records.make(journal, "trajectory", Trajectory.Trajectory)
  const rollout = yield* Rollout
  const { profile } = yield* Engine

  /** The last collection, which the training of the step needs next. */
  const latest = yield* Ref.make<ReadonlyMap<string, Trajectory.Trajectory>>(new Map())

  /** The trajectories of `ids`, in their order; fails when one is not stored. */
  const read = Effect.fnUntraced(function* (ids: ReadonlyArray<Trajectory.TrajectoryId>) {
    const known = yield* Ref.get(latest)
    const stored = yield* records.get(ids.filter((id) => !known.has(id)))
    return yield* Effect.forEach(ids, (id) =>
      Effect.mapError(Effect.fromNullishOr(known.get(id) ?? stored.get(id)), () =>
        Records.corrupt(
          journal.meta,
          `trajectory ${id}, which an event names, is not in the records; restore the journal from a backup`
        )
      )
    )
  })

  const put = (step: number, trajectories: ReadonlyArray<Trajectory.Trajectory>) =>
    records.put(
      step,
      trajectories.map((trajectory) => ({ key: trajectory.id, value: trajectory }))
    )

  const calls = yield* ChatCalls.make(bookkeeping)
  const rollOut = buying({
    atMost: mostOf(algorithm, rollout.agent, profile, scoringAtMost),
    bookkeeping,
    calls,
    rollout,
    profile,
    put
  })

  /**
   * One trajectory per episode, in order. Stored ones are read, the others are rolled out and stored as they complete;
   * failed ones are stored at the end, unless there are too many.
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

/** Rolls out episodes, some at a time, and stores those that did not fail as they complete. */
const buying = <E>({ atMost, bookkeeping, calls, profile, put, rollout }: Buying<E>) => {
  const atOnce = chunkSize(bookkeeping.limits, profile)
  return Effect.fnUntraced(function* (phase: Ledger.Phase, step: number, episodes: ReadonlyArray<Episode>) {
    const chunks = yield* Effect.forEach(Arr.chunksOf(episodes, atOnce), (some) =>
      bookkeeping.payEach(
        phase,
        Ledger.needs.rollouts(some.length),
        some.map((episode) => ({ key: episode.id, most: atMost(episode) })),
        Effect.fnUntraced(function* (settle) {
          const open = new Set(some.map(({ id }) => id))
          const collecting = rollout.collect<E | ChatCalls.CallError>(some, {
            makeChatCall: calls(phase, step),
            onFinished: Effect.fnUntraced(function* (finished) {
              for (const { id } of finished) open.delete(id)
              yield* settle(finished.map((one) => [one.id, costOf(one, profile)]))
              yield* put(
                step,
                finished.filter((one) => !Trajectory.isFailed(one))
              )
            })
          })
          // The calls of unfinished episodes are booked on their own, and are not made again.
          return yield* profile.chat === true
            ? Effect.tapError(collecting, () => settle(Array.from(open, (id) => [id, Ledger.nothing] as const)))
            : collecting
        })
      )
    )
    return chunks.flat()
  })
}

interface Buying<E> {
  /** The most that an episode can cost. */
  readonly atMost: (episode: Episode) => Ledger.Amounts
  readonly bookkeeping: Bookkeeping.Bookkeeping
  /** Makes the calls of a chat model. */
  readonly calls: Effect.Success<ReturnType<typeof ChatCalls.make>>
  readonly rollout: Rollout["Service"]
  readonly profile: EngineProfile
  readonly put: (step: number, trajectories: ReadonlyArray<Trajectory.Trajectory>) => Effect.Effect<void, E>
}

/**
 * Episodes per batch; a batch ends before the next begins. Episodes in flight can exceed the budget, so a run with a budget
 * starts at most as many as the engine runs at once. A chat model's calls are each checked.
 */
const chunkSize = (limits: Ledger.Limits, { chat = false, concurrency }: EngineProfile): number =>
  Math.max(1, concurrency) * (Ledger.isMetered(limits) && !chat ? 1 : 4)

/** The most that an episode can cost, without the calls of a chat model. */
const mostOf = (
  { rollout }: Algorithm,
  agent: Agent,
  { chat = false, contextLength }: EngineProfile,
  scoringAtMost: (question: Question.Question) => Spent.Spent
) => {
  const tokens = chat ? 0 : Agents.maximumTokens(agent, rollout, contextLength)
  const played = { ...Ledger.nothing, rollouts: 1, tokens }
  return ({ question }: Episode) => Ledger.add(played, Ledger.ofSpent(scoringAtMost(question)))
}

const costOf = (trajectory: Trajectory.Trajectory, { chat = false }: EngineProfile): Ledger.Amounts =>
  Ledger.add(
    { ...Ledger.nothing, rollouts: 1, tokens: chat ? 0 : Trajectory.tokens(trajectory) },
    Ledger.ofSpent(trajectory.scoring ?? Spent.nothing)
  )

/** The type of {@link make}. */
export interface TrajectoryStore extends Effect.Success<ReturnType<typeof make>> {}
