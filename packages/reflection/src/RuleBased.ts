import type { Failure } from "@inspo/domain/Experience"
import { Effect, Layer } from "effect"
import { Bank, type Behaviour, type Clause } from "./ClauseBank.ts"
import * as ClauseEdit from "./ClauseEdit.ts"
import * as FailureMode from "./FailureMode.ts"
import * as Drawing from "./internal/Drawing.ts"
import { Proposer } from "./Proposer.ts"

/**
 * The offline proposer: rules, not a language model.
 *
 * It counts the failure modes it is shown, says so in its critique, and edits the parent with clauses of the bank. A
 * clause is the likelier the more failures ask for it, but every clause can be drawn, neutral and harmful ones included:
 * verification has to tell them apart. The first variants are drawn uniformly from the whole bank, one clause each.
 */
export const layerRuleBased: Layer.Layer<Proposer> = Layer.effect(
  Proposer,
  Effect.map(Bank, (bank) => ({
    initial: (request) => Drawing.initial(bank, request),
    propose: Effect.fn("RuleBased.propose")(function* (request) {
      const votes = votesOf(request.failures, request.protocol)
      const present = new Set(ClauseEdit.read(bank, request.parent.text).advice.map(({ clause }) => clause.id))
      return yield* Drawing.propose(bank, request, {
        critique: critique(request.failures, request.protocol),
        edit: (parent) =>
          ClauseEdit.draw(bank, parent, (clause) => Drawing.smoothing + (present.has(clause.id) ? 0 : votes(clause))),
        reason: (clause) =>
          votes(clause) > 0 ? `${votes(clause)} of ${request.failures.length} failures ask for it` : "to try it"
      })
    })
  }))
)

/** The control: the same edits with the same clauses, drawn without a look at the failures. */
export const layerRandom: Layer.Layer<Proposer> = Layer.effect(
  Proposer,
  Effect.map(Bank, (bank) => ({
    initial: (request) => Drawing.initial(bank, request),
    propose: Effect.fn("Random.propose")((request) =>
      Drawing.propose(bank, request, {
        critique: "The failures were not looked at.",
        edit: (parent) => ClauseEdit.draw(bank, parent, () => 1),
        reason: () => "drawn at random"
      })
    )
  }))
)

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

/** How many failures ask for a clause. */
const votesOf = (failures: ReadonlyArray<Failure>, protocol?: FailureMode.Protocol): ((clause: Clause) => number) => {
  const wanted = failures.map(
    (failure) => new Set(FailureMode.diagnose(failure, protocol).map((mode) => remedies[mode]))
  )
  return ({ behaviour, direction }) =>
    behaviour !== null && direction === 1 ? wanted.filter((behaviours) => behaviours.has(behaviour)).length : 0
}

const critique = (failures: ReadonlyArray<Failure>, protocol?: FailureMode.Protocol): string =>
  failures.length === 0
    ? "No failures were shown."
    : `Of ${failures.length} failures, ${FailureMode.count(failures, protocol)
        .map((counted) => `${counted.failures} ${FailureMode.description[counted.mode]}`)
        .join("; ")}.`
