/** What judges find of the trajectories of a step before they are trained. */
import { Invariant, type Question, RandomStream, type Trajectory } from "@inspo/domain"
import { Journal, type JournalError, Records } from "@inspo/journal"
import { type Bookkeeping, Ledger } from "@inspo/ledger"
import {
  type AskJudge,
  type Criterion,
  type FindingOfJudge,
  type Judged,
  type JudgeModel,
  type JudgeQuestion,
  JudgeModels,
  Reply,
  type RewardError
} from "@inspo/reward"
import { Effect, Equal, Ref, Result, Semaphore } from "effect"
import type * as Command from "../../Command.ts"
import type { Algorithm } from "../../Algorithm.ts"
import { type ConfigError, unknownPrice } from "../../ConfigError.ts"
import { type JudgedMethod, judgedMethods } from "../../JudgedMethods.ts"
import type { RunData } from "../../RunData.ts"
import type { Findings, Rubrics } from "../../RunEvent.ts"
import * as Counterfactual from "./Counterfactual.ts"
import * as Rollouts from "./Rollouts.ts"
import { grouped } from "./Shaping.ts"

type Unasked = Bookkeeping.BudgetReached | ConfigError | JournalError | RewardError

/**
 * Finds what the methods of an algorithm read beside rewards; null where they read nothing. Each reply of a judge is paid once and
 * stored on arrival. `hasChanged` says whether the policy is another one than that which sampled.
 */
export const make = Effect.fnUntraced(function* (
  algorithm: Algorithm,
  bookkeeping: Bookkeeping.Bookkeeping,
  data: RunData
) {
  const models = yield* JudgeModels
  const records = Records.make(yield* Journal, "judge", Reply)
  const question = Rollouts.lookup(data)
  const methods = judgedMethods(algorithm)
  const informationOf = yield* Counterfactual.make(algorithm)

  const asking =
    (method: JudgedMethod, model: JudgeModel, counts: Ref.Ref<Counts>, step: number, some: Some) =>
    (group: number): AskJudge<Unasked> => {
      const put = paying(bookkeeping, records, model, step)
      return <A>({ isOpen = false, key, prompt, read }: JudgeQuestion<A>) =>
        Effect.gen(function* () {
          const path = [step, method.setting, group, key]
          const asked = (time: number) =>
            Effect.map(some(put([...path, time].join("/"), prompt, (reply) => read(reply) !== null)), ({ text }) =>
              text === null ? null : read(text)
            )
          const found = yield* asked(0)
          const isDrawn =
            !isOpen && RandomStream.make(algorithm.randomSeed, ["judge-again", ...path]).next() < method.again
          const second = found !== null && isDrawn ? yield* asked(1) : null
          yield* Ref.update(counts, (before) => ({
            asked: before.asked + 1,
            unread: before.unread + (found === null ? 1 : 0),
            again: before.again + (second === null ? 0 : 1),
            differing: before.differing + (second === null || Equal.equals(found, second) ? 0 : 1)
          }))
          return found
        })
    }

  return Effect.fn("Perform.judge")(function* (
    { rubrics, step }: Pick<Command.PlanTraining, "rubrics" | "step">,
    trajectories: ReadonlyArray<Trajectory.Trajectory>,
    hasChanged: boolean
  ) {
    const gathered = grouped(algorithm, trajectories)
    const informed = yield* informationOf(gathered.flat(), hasChanged)
    if (methods.length === 0 && informed === null) return null
    const counts = yield* Ref.make(nothingAsked)
    const some = yield* someAtOnce
    const groups = yield* Effect.forEach(gathered, (group) =>
      Effect.map(question(group[0].questionId), (asked) => ({
        group,
        question: asked.id,
        judged: group.map(judgedOf(asked))
      }))
    )
    const found = yield* Effect.forEach(methods, (method) =>
      Effect.flatMap(models(method.setting), (model) =>
        judgedBy(method, groups, rubrics, asking(method, model, counts, step, some))
      )
    )
    const information = (informed ?? []).values()
    const of = groups.flatMap(({ group }, index) =>
      group.map(({ id }, member) => {
        const own = found.map(({ findings }) => Invariant.at(Invariant.at(findings, index, "group"), member, "finding"))
        return Object.assign({ trajectory: id }, information.next().value, ...own)
      })
    )
    const after: Rubrics = Object.assign({}, ...found.map((method) => method.after))
    return {
      of,
      ...(yield* Ref.get(counts)),
      ...(Object.keys(after).length === 0 ? {} : { rubrics: after })
    } satisfies Findings
  })
})

/** Judges the groups of each question in order, so that each group has the criteria of those before it. */
const judgedBy = Effect.fnUntraced(function* (
  { cap, criteria, judge, setting }: JudgedMethod,
  groups: ReadonlyArray<{ readonly judged: ReadonlyArray<Judged>; readonly question: Question.QuestionId }>,
  rubrics: Rubrics,
  ask: (group: number) => AskJudge<Unasked>
) {
  const indexed = groups.map((group, index) => ({ ...group, index }))
  const findings = new Map<number, ReadonlyArray<FindingOfJudge>>()
  const after: { [question: string]: ReadonlyArray<Criterion> } = {}
  yield* Effect.forEach(
    Map.groupBy(indexed, (group) => group.question),
    Effect.fnUntraced(function* ([id, own]) {
      for (const { index, judged } of own) {
        const rubric = { criteria, cap, buffer: after[id] ?? rubrics[id] ?? [] }
        const judgement = yield* judge.of(judged, rubric, ask(index))
        findings.set(index, judgement.findings)
        if (judgement.buffer !== undefined) after[id] = judgement.buffer
      }
    }),
    { concurrency: "unbounded", discard: true }
  )
  return { after, findings: groups.map((_, index) => Invariant.get(findings, index, `group of ${setting}`)) }
})

type Counts = Omit<Findings, "of" | "rubrics">

const nothingAsked: Counts = { asked: 0, unread: 0, again: 0, differing: 0 }

/** Makes a call, of which some are under way at once. */
type Some = <A>(call: Effect.Effect<A, Unasked>) => Effect.Effect<A, Unasked>

const atOnce = 8

/** After a failure no call begins, and it is reported when those under way have ended: what they bring is paid for. */
const someAtOnce = Effect.gen(function* () {
  const turns = yield* Semaphore.make(atOnce)
  const failed = yield* Ref.make<Unasked | null>(null)
  return <A>(call: Effect.Effect<A, Unasked>) =>
    Effect.flatMap(Ref.get(failed), (error) =>
      error === null ? Effect.tapError(call, (own) => Ref.set(failed, own)) : Effect.fail(error)
    ).pipe(
      (begun) => turns.withPermit(begun),
      Effect.catch((error) => turns.withPermits(atOnce)(Effect.fail(error)))
    )
})

/** Puts a question to a language model, or reads its stored reply. */
const paying =
  (
    bookkeeping: Bookkeeping.Bookkeeping,
    records: Records.Records<Reply, Reply>,
    { ask, atMost }: JudgeModel,
    step: number
  ) =>
  (key: string, prompt: string, isReadable: (reply: string) => boolean): Effect.Effect<Reply, Unasked> => {
    const most = atMost(prompt)
    const { usd } = bookkeeping.limits
    if (usd !== null && most.usd === null) return Effect.fail(unknownPrice("judge", usd))
    const payment = { phase: "train", need: Ledger.needs.call, most: Ledger.ofSpent(most), cost } as const
    return bookkeeping.once(records, { step, key, payment }, ask(prompt, isReadable))
  }

const cost = (replied: Result.Result<Reply, RewardError>): Ledger.Amounts => {
  const { spent } = Result.merge(replied)
  return spent === undefined ? Ledger.nothing : Ledger.ofSpent(spent)
}

const judgedOf =
  (question: Question.Question) =>
  ({ answer, reward, transcript }: Trajectory.Trajectory) => ({ question, reward, answer, turns: transcript })
