/** The work under an instruction, as the optimizer sees it. */
import { State } from "@inspo/cohorts"
import type { Instruction, Question } from "@inspo/domain"
import { type Journal, type JournalError, Records } from "@inspo/journal"
import { CandidateLint, Reflect, type ReflectiveRecord } from "@inspo/reflection"
import { Array as Arr, Clock, Effect, Order } from "effect"
import {
  kinds,
  minute,
  leaseDetailsKey,
  StoredLease,
  StoredLeaseDetails,
  StoredRewardDetails,
  StoredScore,
  unnamedOf
} from "../../store/internal/Stored.ts"

/** Records of work, the worst first, and their questions. */
export interface Work {
  readonly records: ReadonlyArray<ReflectiveRecord>
  readonly questions: ReadonlyArray<Question.QuestionId>
  /** Golden answers of so many questions of the newest work that they are not secret. */
  readonly commonAnswers: ReadonlyArray<string>
}

/** The worst and the best of the newest work under an instruction, among records with texts. */
export const of = Effect.fn("LivePopulation.work")(function* (
  journal: Journal.Interface,
  state: State.State,
  instruction: Instruction.InstructionId,
  commonShare = CandidateLint.defaultCommonShare
): Effect.fn.Return<Work, JournalError> {
  const all = yield* newest(journal, state, instruction)
  const scores = Reflect.chosen(
    Arr.sort(all, byAge).map((one) => ({ ...one, score: one.value })),
    Reflect.mostRecords
  )
  const [rewardDetails, leaseDetails, leases] = yield* Effect.all([
    Records.make(journal, kinds.rewardDetails, StoredRewardDetails).get(scores.map(({ key }) => key)),
    Records.make(journal, kinds.leaseDetails, StoredLeaseDetails).get(
      scores.map(({ lease }) => leaseDetailsKey(lease))
    ),
    leasesOf(journal, scores)
  ])
  return {
    records: scores.flatMap(({ key, lease, score }): ReadonlyArray<ReflectiveRecord> => {
      const texts = rewardDetails.get(key)
      const question = leaseDetails.get(leaseDetailsKey(lease))?.question
      return texts === undefined
        ? []
        : [
            {
              score,
              task: question?.text,
              transcript: texts.transcript,
              feedback: texts.feedback,
              expected: texts.goldenAnswers ?? question?.goldenAnswers
            }
          ]
    }),
    questions: Arr.dedupe(scores.flatMap(({ lease }) => leases.get(lease)?.given.question ?? [])),
    commonAnswers: CandidateLint.commonAnswers(yield* answersOf(journal, all), commonShare)
  }
})

/** Golden answers of the newest work, by lease. Transcripts are large, so few records are read at a time. */
const answersOf = Effect.fnUntraced(function* (
  journal: Journal.Interface,
  scores: ReadonlyArray<Score>
): Effect.fn.Return<ReadonlyArray<ReadonlyArray<string>>, JournalError> {
  const rewards = Records.make(journal, kinds.rewardDetails, StoredRewardDetails)
  const leases = Records.make(journal, kinds.leaseDetails, StoredLeaseDetails)
  const answers = new Map<string, ReadonlyArray<string>>()
  const latest = Arr.takeRight(
    Arr.sort(
      scores,
      Order.mapInput(Order.Number, ({ step }: Score) => step)
    ),
    enough
  )
  for (const some of Arr.chunksOf(latest, atOnce)) {
    const rewarded = yield* rewards.get(some.map(({ key }) => key))
    const leased = yield* leases.get(some.map(({ lease }) => leaseDetailsKey(lease)))
    for (const { key, lease } of some) {
      const known = rewarded.get(key)?.goldenAnswers ?? leased.get(leaseDetailsKey(lease))?.question?.goldenAnswers
      if (known !== undefined) answers.set(lease, known)
    }
  }
  return Array.from(answers.values())
})

const atOnce = 20

interface Score extends StoredScore {
  readonly key: string
  readonly step: number
}

/** The number of records to choose among. */
const enough = 200

/** The most records that are read to find them; all are in memory at once. */
const mostRead = 50_000

/** Scores of the instruction on the present branch, searched backwards in windows that double from a minute. */
const newest = Effect.fnUntraced(function* (
  journal: Journal.Interface,
  state: State.State,
  instruction: Instruction.InstructionId
): Effect.fn.Return<ReadonlyArray<Score>, JournalError> {
  const decode = Records.decoder(journal, kinds.scored, StoredScore)
  const own: Array<Score> = []
  let read = 0
  let before = minute(yield* Clock.currentTimeMillis) + 1
  for (let minutes = 1; before > 0 && own.length < enough && read < mostRead; minutes *= 2) {
    const from = Math.max(0, before - minutes)
    const rows = yield* journal.listRecords(kinds.scored, { from, before })
    const scores = yield* Effect.forEach(rows, ({ key, step, value }) =>
      Effect.map(decode(key, value), (score) => ({ ...score, key, step }))
    )
    own.push(...scores.filter((score) => score.instruction === instruction).slice(-10 * enough))
    read += rows.length
    before = from
  }
  return yield* counting(journal, state, own)
})

/** The scores whose cohort counts on the present branch: another branch may have another instruction with the same id. */
const counting = Effect.fnUntraced(function* (
  journal: Journal.Interface,
  state: State.State,
  scores: ReadonlyArray<Score>
): Effect.fn.Return<ReadonlyArray<Score>, JournalError> {
  const leases = yield* leasesOf(journal, scores)
  const line = State.ancestry(state)
  return scores.filter(({ lease }) => {
    const known = leases.get(lease)
    return (
      known !== undefined &&
      line.some(
        ({ branch, upTo }) => branch === known.branch && (upTo === Infinity || (known.isTrain && known.index <= upTo))
      )
    )
  })
})

const leasesOf = (journal: Journal.Interface, scores: ReadonlyArray<Pick<Score, "lease">>) => {
  const keys = Arr.dedupe(scores.flatMap(({ lease }) => [lease, unnamedOf(lease)]))
  return Effect.map(
    Records.make(journal, kinds.lease, StoredLease).get(keys),
    (found) => new Map(Array.from(found.values(), (lease) => [lease.given.lease, lease]))
  )
}

/** The newest first. */
const byAge: Order.Order<Score> = Order.combine(
  Order.flip(Order.mapInput(Order.Number, ({ step }: Score) => step)),
  Order.mapInput(Order.String, ({ key }: Score) => key)
)
