import { Moments } from "@inspo/statistics"
import { Array as Arr, Effect, Order } from "effect"
import { type Criterion, type Judge, type Judged, numbers, promptOf, turnsOf, written } from "../Judge.ts"

/**
 * RubricEM's judge by rubrics. It compares the rollouts of a group, adds criteria that separate good from bad ones to the buffer of
 * the question, and scores each rollout by all of them. Over the cap, those leave on whose scores the group differs least; criteria
 * of the user stay. Where a rollout cannot be scored, all have their own rewards and the buffer stays as it was.
 */
export const rubric: Judge<"rubric"> = {
  name: "rubric",
  source: "RubricEM, arXiv 2605.10899",
  criteria: "The final answer is right, and what was found supports it.",
  of: Effect.fnUntraced(function* (group, { buffer, cap, criteria }, ask) {
    const known = buffer.length > 0 ? buffer : persistent(criteria)
    const texts = new Set(group.map(turnsOf))
    const added =
      texts.size < 2
        ? null
        : yield* ask({ key: "criteria", prompt: comparison(group, known), read: readCriteria, isOpen: true })
    const fresh = (added ?? []).filter(({ title }) => known.every((other) => other.title !== title))
    const all = [...known, ...fresh]
    const scores = yield* Effect.forEach(
      group,
      (rollout, index) =>
        ask({ key: `${index}`, prompt: scoring(rollout, all), read: (reply) => readScores(reply, all.length) }),
      { concurrency: "unbounded" }
    )
    const read = scores.filter((each) => each !== null)
    return read.length < group.length
      ? { findings: group.map(({ reward }) => ({ score: reward })), buffer: known }
      : { findings: read.map((each) => ({ score: scoreOf(all, each) })), buffer: kept(all, read, cap) }
  })
}

/** The weighted mean of scores from 0 to 2, those of faults inverted, in [0, 1]. */
export const scoreOf = (
  criteria: ReadonlyArray<Pick<Criterion, "isFault" | "weight">>,
  scores: ReadonlyArray<number>
): number =>
  Moments.weightedMean(
    criteria.map(({ isFault }, index) => (isFault ? best - (scores[index] ?? 0) : (scores[index] ?? 0)) / best),
    criteria.map(({ weight }) => weight)
  )

/** The criteria without those of least variance over a group, at most `cap` of them unless more are the user's. */
export const kept = (
  criteria: ReadonlyArray<Criterion>,
  scores: ReadonlyArray<ReadonlyArray<number>>,
  cap: number
): ReadonlyArray<Criterion> => {
  const spread = (index: number) =>
    Moments.deviation(
      scores.map((each) => each[index] ?? 0),
      0
    )
  const ranked = Arr.sort(
    criteria.flatMap(({ isPersistent }, index) => (isPersistent ? [] : [{ index, spread: spread(index) }])),
    Order.flip(Order.mapInput(Order.Number, (one: { readonly spread: number }) => one.spread))
  )
  const room = Math.max(0, cap - criteria.filter(({ isPersistent }) => isPersistent).length)
  const staying = new Set(ranked.slice(0, room).map(({ index }) => index))
  return criteria.filter(({ isPersistent }, index) => isPersistent || staying.has(index))
}

const best = 2

/** The user's criteria, one a line. */
const persistent = (criteria: string): ReadonlyArray<Criterion> =>
  criteria
    .split("\n")
    .map((line) => line.trim())
    .filter((line) => line !== "")
    .map((title) => ({ title, weight: 1, isFault: false, isPersistent: true }))

const listed = (criteria: ReadonlyArray<Criterion>): ReadonlyArray<string> =>
  criteria.map(({ isFault, title }, index) => `${index + 1}. ${isFault ? "(a fault) " : ""}${title}`)

const comparison = (group: ReadonlyArray<Judged>, known: ReadonlyArray<Criterion>): string =>
  promptOf(group[0] ?? nothing, {
    task:
      "You write criteria that separate the good attempts at a question from the bad ones. Do not reward tags, length, or that an " +
      "attempt follows its own plan.",
    shown: [
      ...group.map((rollout) => `<attempt score="${rollout.reward}">\n${turnsOf(rollout)}\n</attempt>`),
      "These criteria are known:",
      ...listed(known)
    ],
    verdict:
      `Write up to ${most} more, each on a line, with a weight from 1 to 3: <merit weight="2">…</merit> for what good attempts do, ` +
      `<fault weight="2">…</fault> for what bad ones do. Write <merit weight="0">none</merit> if none is missing.`
  })

const most = 5

const nothing: Judged = { question: { question: "", goldenAnswers: [] }, reward: 0, answer: null, turns: [] }

/** No criteria are blank ones, `none`, and the `…` of the verdict that it was shown. */
const readCriteria = (reply: string): ReadonlyArray<Criterion> | null => {
  const found = Array.from(
    reply.matchAll(/<(merit|fault) weight="([0-3])">([^<]{1,500})<\/\1>/gu),
    ([, kind, weight, title = ""]) => ({
      title: title.trim(),
      weight: Number(weight),
      isFault: kind === "fault",
      isPersistent: false
    })
  )
  const named = found.filter(({ title, weight }) => weight > 0 && !/^(?:[\s.…]*|none\.?)$/iu.test(title))
  return found.length === 0 ? null : Arr.dedupeWith(named, (a, b) => a.title === b.title).slice(0, most)
}

const scoring = (rollout: Judged, criteria: ReadonlyArray<Criterion>): string =>
  promptOf(rollout, {
    task: "You score an attempt at a question by a list of criteria. Of a fault, score how much of it there is.",
    shown: [turnsOf(rollout), "The criteria:", ...listed(criteria)],
    verdict:
      "Say in a sentence for each criterion how far it holds. Then write a score for each, 0, 1 or 2, as in " +
      `<scores>${criteria.map(() => 1).join(", ")}</scores>.`
  })

const readScores = (reply: string, count: number): ReadonlyArray<number> | null => {
  const all = numbers(written(reply, "scores"))
  return all?.length === count && all.every((score) => score >= 0 && score <= best) ? all : null
}
