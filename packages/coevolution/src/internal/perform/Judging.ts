/** What judges find of the trajectories of a step before they are trained. */
import { Invariant, type Question, RandomStream, type Trajectory } from "@inspo/domain"
import { Journal, type JournalError, Records } from "@inspo/journal"
import { type Bookkeeping, Ledger } from "@inspo/ledger"
import { GrpoBatch } from "@inspo/policy-gradient"
import { type AskJudge, type JudgeModel, type JudgeQuestion, JudgeModels, Reply, type RewardError } from "@inspo/reward"
import { Effect, Equal, Ref, Result } from "effect"
import { type Algorithm, sharesGroups } from "../../Algorithm.ts"
import { type ConfigError, unknownPrice } from "../../ConfigError.ts"
import { type JudgedMethod, judgedMethods } from "../../JudgedMethods.ts"
import type { RunData } from "../../RunData.ts"
import type { Findings } from "../../RunEvent.ts"
import * as Counterfactual from "./Counterfactual.ts"
import * as Rollouts from "./Rollouts.ts"

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
  const gather = sharesGroups(algorithm) ? GrpoBatch.sharedGroups : GrpoBatch.groups

  const asking =
    (method: JudgedMethod, model: JudgeModel, counts: Ref.Ref<Counts>, step: number) =>
    (group: number): AskJudge<Unasked> => {
      const put = paying(bookkeeping, records, model, step)
      return <A>({ key, prompt, read }: JudgeQuestion<A>) =>
        Effect.gen(function* () {
          const path = [step, method.setting, group, key]
          const asked = (time: number) =>
            Effect.map(
              put([...path, time].join("/"), prompt, (reply) => read(reply) !== null),
              ({ text }) => (text === null ? null : read(text))
            )
          const found = yield* asked(0)
          const isDrawn = RandomStream.make(algorithm.randomSeed, ["judge-again", ...path]).next() < method.again
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
    step: number,
    trajectories: ReadonlyArray<Trajectory.Trajectory>,
    hasChanged: boolean
  ) {
    const informed = yield* informationOf(trajectories, hasChanged)
    if (methods.length === 0 && informed === null) return null
    const counts = yield* Ref.make(nothingAsked)
    const groups = yield* Effect.forEach(gather(trajectories), (group) =>
      Effect.map(question(group[0].questionId), (asked) => ({ group, judged: group.map(judgedOf(asked)) }))
    )
    const found = yield* Effect.forEach(methods, (method) =>
      Effect.flatMap(models(method.setting), (model) => {
        const ask = asking(method, model, counts, step)
        return Effect.forEach(groups, ({ judged }, index) => method.judge.of(judged, method.criteria, ask(index)), {
          concurrency: "unbounded"
        })
      })
    )
    const information = new Map((informed ?? []).map(({ trajectory, ...turns }) => [trajectory, turns]))
    const of = groups.flatMap(({ group }, index) =>
      group.map(({ id }, member) => {
        const own = found.map((ofMethod) => Invariant.at(Invariant.at(ofMethod, index, "group"), member, "finding"))
        return Object.assign({ trajectory: id }, information.get(id), ...own)
      })
    )
    return { of, ...(yield* Ref.get(counts)) } satisfies Findings
  })
})

type Counts = Omit<Findings, "of">

const nothingAsked: Counts = { asked: 0, unread: 0, again: 0, differing: 0 }

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
