import { Array as Arr, Effect, type Layer, Random } from "effect"
import type { Behaviour, Clause } from "./ClauseBank.ts"
import * as ClauseEdit from "./ClauseEdit.ts"
import * as FailureMode from "./FailureMode.ts"
import * as Drawing from "./internal/Drawing.ts"
import * as Preferences from "./internal/Preferences.ts"
import * as Tried from "./internal/Tried.ts"
import type { Proposer, ProposeRequest } from "./Proposer.ts"
import { isAttempt, type ReflectiveRecord } from "./ReflectiveRecord.ts"

/**
 * The offline proposer: rules, not a language model.
 *
 * It counts the failure modes it is shown, says so in its critique, and edits the parent with clauses of the bank. A
 * clause is the likelier the more failures ask for it, if it was never tried, or if the instructions that carry it scored
 * higher than the parent. Some candidates combine the parent's advice with that of another instruction of a high score. Every
 * clause can be drawn, neutral and harmful ones included: rewards have to distinguish them. What was tried is not proposed
 * again. The first variants are drawn uniformly from the whole bank, one clause each.
 */
export const layerRuleBased: Layer.Layer<Proposer> = Drawing.layer("RuleBased", (bank, request) => {
  const { parent, protocol, records } = request
  const failures = records.filter(({ transcript }) => isAttempt(transcript))
  const votes = votesOf(failures, protocol)
  const tried = Tried.read(request)
  const preferences = Preferences.make(bank, parent.text, votes, tried)
  const partners = partnersOf(bank, request)
  return {
    critique: critique(failures, protocol),
    tried: Tried.textsOf(request),
    edit: Effect.fnUntraced(function* (advised, repetitions) {
      if (Arr.isReadonlyArrayNonEmpty(partners) && (yield* Random.next) < combineRate) {
        const { advised: other, from } = yield* Random.choice(partners)
        return yield* ClauseEdit.combine(advised, other, from)
      }
      const further = Math.floor(repetitions / repetitionsPerMove)
      return yield* ClauseEdit.draw(bank, advised, preferences.clause, { ...preferences, further })
    }),
    reason: reasonOf(failures.length, votes, tried),
    withdrawal: ({ clause }) => (tried.merit(clause) < 0 ? " (carriers scored lower)" : "")
  }
})

/** The control: the same edits with the same clauses, drawn without a look at the failures. */
export const layerRandom: Layer.Layer<Proposer> = Drawing.layer("Random", (bank) => ({
  critique: "The failures were not looked at.",
  edit: (parent) => ClauseEdit.draw(bank, parent, () => 1),
  reason: () => "drawn at random"
}))

/** How often a candidate is a combination: failures and untried clauses still decide most of them. */
const combineRate = 1 / 3

/** So many repetitions in a row show that another move is needed to get to something new. */
const repetitionsPerMove = 5

/** The instructions of the better half, with advice that the parent lacks, if it has some itself. */
const partnersOf = (bank: ReadonlyArray<Clause>, { history, parent }: ProposeRequest<unknown>) => {
  const own = ClauseEdit.read(bank, parent.text)
  if (own.advice.length === 0) return []
  return Tried.betterHalf(history).flatMap(({ instruction: { id, text } }) => {
    const advised = ClauseEdit.read(bank, text)
    const from = id === undefined ? "another instruction's" : `${id}'s`
    return ClauseEdit.lackingIn(own, advised).length > 0 ? [{ advised, from }] : []
  })
}

/** Why advice is given. */
const reasonOf =
  (failures: number, votes: (clause: Clause) => number, { gain, isUntried }: Tried.Experience) =>
  ({ clause, from, text }: ClauseEdit.Advice): string => {
    const reasons = [
      ...(from === undefined ? [] : [`combined with ${from}`]),
      ...(votes(clause) > 0 ? [`${votes(clause)} of ${failures} failures ask for it`] : []),
      ...(gain(clause) > 0 ? ["carriers scored higher"] : []),
      ...(isUntried(text) ? ["never tried"] : [])
    ]
    return reasons.length > 0 ? reasons.join(", ") : "to try it"
  }

/** The behaviour that would have avoided a failure mode, where clauses can ask for one. */
const remedies: Readonly<Record<FailureMode.FailureMode, Behaviour | null>> = {
  "no-search": "search",
  "whole-question-as-query": "one-entity-per-search",
  "stopped-after-first-hop": "one-entity-per-search",
  "evidence-not-stated": "state-evidence",
  "answer-not-in-evidence": "state-evidence",
  "wordy-answer": "bare-answer",
  "broken-tags": null,
  "ran-out-of-turns": "state-evidence",
  other: null
}

const votesOf = (
  failures: ReadonlyArray<ReflectiveRecord>,
  protocol?: FailureMode.Protocol
): ((clause: Clause) => number) => {
  const wanted = failures.map(
    (failure) => new Set(FailureMode.diagnose(failure, protocol).map((mode) => remedies[mode]))
  )
  return ({ behaviour, direction }) =>
    behaviour !== null && direction === 1 ? wanted.filter((behaviours) => behaviours.has(behaviour)).length : 0
}

const critique = (failures: ReadonlyArray<ReflectiveRecord>, protocol?: FailureMode.Protocol): string =>
  failures.length === 0
    ? "No failures were shown."
    : `Of ${failures.length} failures, ${FailureMode.count(failures, protocol)
        .map((counted) => `${counted.failures} ${FailureMode.description[counted.mode]}`)
        .join("; ")}.`
