/** What the offline proposers share: drawing different candidates, and saying what each of them changed. */
import type { Candidate } from "@inspo/domain/Instruction"
import { withStream } from "@inspo/domain/RandomStream"
import * as Spent from "@inspo/domain/Spent"
import { Array as Arr, Effect, Random } from "effect"
import type { Clause } from "../ClauseBank.ts"
import * as ClauseEdit from "../ClauseEdit.ts"
import type { InitialRequest, Proposal } from "../Proposer.ts"

/** How a proposer revises a parent. `reason` says why a clause was given. */
export interface Revision {
  readonly critique: string
  readonly edit: (parent: ClauseEdit.AdvisedInstruction) => Effect.Effect<ClauseEdit.AdvisedInstruction>
  readonly reason: (clause: Clause) => string
}

/** The weight of a clause that nothing speaks for, in failures or instructions that would. */
export const smoothing = 0.3

/** How many edits are drawn for each candidate asked for until they are all different. */
const drawsPerCandidate = 20

/** Draws revisions until there are as many different ones as asked for. */
export const propose = Effect.fnUntraced(
  function* (
    bank: ReadonlyArray<Clause>,
    request: InitialRequest<unknown>,
    revision: Revision
  ): Effect.fn.Return<Proposal> {
    const parent = ClauseEdit.read(bank, request.parent.text)
    const candidates = new Map<string, Candidate>()
    for (let draw = 0; draw < drawsPerCandidate * request.count && candidates.size < request.count; draw++) {
      const edited = yield* revision.edit(parent)
      const text = ClauseEdit.write(edited)
      if (text !== request.parent.text && text !== "" && !candidates.has(text)) {
        candidates.set(text, { text, rationale: rationale(parent, edited, revision.reason) })
      }
    }
    return { critique: revision.critique, candidates: [...candidates.values()], spent: Spent.nothing }
  },
  (effect, _, { seed, stream }) => withStream(seed, stream)(effect)
)

/** The first variants: one text of the bank each, drawn uniformly. */
export const initial = Effect.fn("RuleBased.initial")(
  function* (bank: ReadonlyArray<Clause>, { count, parent }: InitialRequest<unknown>): Effect.fn.Return<Proposal> {
    const instruction = ClauseEdit.read(bank, parent.text)
    const shuffled = yield* Random.shuffle(ClauseEdit.adviceOf(bank))
    const fresh = shuffled.filter(({ text }) => !parent.text.includes(text))
    // One text of every clause before any clause returns in another wording.
    const first = Arr.dedupeWith(fresh, (a, b) => a.clause.id === b.clause.id)
    const candidates = Arr.take([...(yield* Random.shuffle(first)), ...Arr.difference(fresh, first)], count).map(
      (advice): Candidate => {
        const edited = ClauseEdit.put(instruction, advice)
        return { text: ClauseEdit.write(edited), rationale: rationale(instruction, edited, () => "drawn at random") }
      }
    )
    return { critique: "Nothing is known about the instruction yet.", candidates, spent: Spent.nothing }
  },
  (effect, _, { seed, stream }) => withStream(seed, stream)(effect)
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
