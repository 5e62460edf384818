import type { Failure } from "@inspo/domain/Experience"
import type { Candidate } from "@inspo/domain/Instruction"
import { withStream } from "@inspo/domain/RandomStream"
import { Array as Arr, Effect, Layer, Random } from "effect"
import type { Behaviour, Clause } from "./ClauseBank.ts"
import * as ClauseEdit from "./ClauseEdit.ts"
import * as FailureMode from "./FailureMode.ts"
import { type InitialRequest, type Proposal, Proposer, type ProposeRequest } from "./Proposer.ts"

/**
 * The offline optimizer: rules, not a language model.
 *
 * It counts the failure modes it is shown, says so in its critique, and edits the parent with clauses of the bank. A
 * clause is the likelier the more failures ask for it, but every clause can be drawn, neutral and harmful ones included:
 * verification has to tell them apart. The first variants are drawn uniformly from the whole bank, one clause each.
 */
export const layerRuleBased: Layer.Layer<Proposer> = Layer.sync(Proposer, () => ({
  initial,
  propose: Effect.fn("RuleBased.propose")(function* (request) {
    const votes = votesOf(request.failures)
    const present = new Set(ClauseEdit.read(request.parent.text).advice.map(({ clause }) => clause.id))
    return yield* propose(request, {
      critique: critique(request.failures),
      weight: (clause) => smoothing + (present.has(clause.id) ? 0 : votes(clause)),
      reason: (clause) =>
        votes(clause) > 0 ? `${votes(clause)} of ${request.failures.length} failures ask for it` : "to try it"
    })
  })
}))

/** The control: the same edits with the same clauses, drawn without a look at the failures. */
export const layerRandom: Layer.Layer<Proposer> = Layer.sync(Proposer, () => ({
  initial,
  propose: Effect.fn("Random.propose")((request) =>
    propose(request, {
      critique: "The failures were not looked at.",
      weight: () => 1,
      reason: () => "drawn at random"
    })
  )
}))

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

/** The weight of a clause that no failure asks for, in failures. */
const smoothing = 0.3

/** How many edits are drawn for each candidate asked for until they are all different. */
const drawsPerCandidate = 20

/** How many failures ask for a clause. */
const votesOf = (failures: ReadonlyArray<Failure>): ((clause: Clause) => number) => {
  const wanted = failures.map((failure) => new Set(FailureMode.diagnose(failure).map((mode) => remedies[mode])))
  return ({ behaviour, direction }) =>
    behaviour !== null && direction === 1 ? wanted.filter((behaviours) => behaviours.has(behaviour)).length : 0
}

const critique = (failures: ReadonlyArray<Failure>): string =>
  failures.length === 0
    ? "No failures were shown."
    : `Of ${failures.length} failures, ${FailureMode.count(failures)
        .map((counted) => `${counted.failures} ${FailureMode.description[counted.mode]}`)
        .join("; ")}.`

interface Choice {
  readonly critique: string
  readonly weight: (clause: Clause) => number
  readonly reason: (clause: Clause) => string
}

const propose = Effect.fnUntraced(
  function* (request: ProposeRequest, choice: Choice): Effect.fn.Return<Proposal> {
    const parent = ClauseEdit.read(request.parent.text)
    const candidates = new Map<string, Candidate>()
    for (let draw = 0; draw < drawsPerCandidate * request.count && candidates.size < request.count; draw++) {
      const edited = yield* ClauseEdit.draw(parent, choice.weight)
      const text = ClauseEdit.write(edited)
      if (text !== request.parent.text && text !== "" && !candidates.has(text)) {
        candidates.set(text, { text, rationale: rationale(parent, edited, choice.reason) })
      }
    }
    return { critique: choice.critique, candidates: [...candidates.values()], spent: nothing }
  },
  (effect, { seed, stream }) => withStream(seed, stream)(effect)
)

const initial = Effect.fn("RuleBased.initial")(
  function* ({ count, parent }: InitialRequest): Effect.fn.Return<Proposal> {
    const instruction = ClauseEdit.read(parent.text)
    const shuffled = yield* Random.shuffle(ClauseEdit.bank)
    const fresh = shuffled.filter(({ text }) => !parent.text.includes(text))
    // One text of every clause before any clause returns in another wording.
    const first = Arr.dedupeWith(fresh, (a, b) => a.clause.id === b.clause.id)
    const candidates = Arr.take([...(yield* Random.shuffle(first)), ...Arr.difference(fresh, first)], count).map(
      (advice): Candidate => {
        const edited = ClauseEdit.put(instruction, advice)
        return { text: ClauseEdit.write(edited), rationale: rationale(instruction, edited, () => "drawn at random") }
      }
    )
    return { critique: "Nothing is known about the instruction yet.", candidates, spent: nothing }
  },
  (effect, { seed, stream }) => withStream(seed, stream)(effect)
)

const rationale = (
  parent: ClauseEdit.AdvisedInstruction,
  edited: ClauseEdit.AdvisedInstruction,
  reason: (clause: Clause) => string
): string =>
  [
    ...Arr.difference(edited.advice, parent.advice).map(({ clause, text }) => `adds "${text}" (${reason(clause)})`),
    ...Arr.difference(parent.advice, edited.advice).map(({ text }) => `drops "${text}"`)
  ].join("; ")

const nothing = { calls: 0, tokens: 0 }
