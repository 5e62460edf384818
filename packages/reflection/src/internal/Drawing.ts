/** What the offline proposers share: drawing different candidates, and saying what each of them changed. */
import { type Instruction, SeededRandom, Spent } from "@inspo/domain"
import { Array as Arr, Effect, Layer, Random } from "effect"
import { Bank, type Clause } from "../ClauseBank.ts"
import * as ClauseEdit from "../ClauseEdit.ts"
import { type InitialRequest, type Proposal, Proposer, type ProposeRequest } from "../Proposer.ts"

/**
 * How a proposer revises a parent. `edit` gets how many edits in a row brought nothing new. `reason` says why advice was
 * given, `withdrawal` why it was withdrawn. Where `tried` is there, none of these texts is proposed again, and neither is
 * their advice in another order while other advice can be drawn.
 */
interface Revision {
  readonly critique: string
  readonly edit: (
    parent: ClauseEdit.AdvisedInstruction,
    repetitions: number
  ) => Effect.Effect<ClauseEdit.AdvisedInstruction>
  readonly reason: (advice: ClauseEdit.Advice) => string
  readonly withdrawal?: (advice: ClauseEdit.Advice) => string
  readonly tried?: ReadonlyArray<string>
}

/** The weight of a clause that nothing speaks for, in failures or instructions that would. */
export const smoothing = 0.3

/** How many edits are drawn for each candidate asked for until they are all different. */
const drawsPerCandidate = 60

/** A proposer that revises by drawing, with the clauses of the bank. */
export const layer = (
  name: string,
  revisionOf: (bank: ReadonlyArray<Clause>, request: ProposeRequest<unknown>) => Revision
): Layer.Layer<Proposer> =>
  Layer.effect(
    Proposer,
    Effect.map(Bank, (bank) => ({
      initial: (request) => initial(bank, request),
      propose: Effect.fn(`${name}.propose`)((request) => propose(bank, request, revisionOf(bank, request)))
    }))
  )

/** Draws revisions until there are as many different ones as asked for. */
const propose = Effect.fnUntraced(
  function* (
    bank: ReadonlyArray<Clause>,
    request: InitialRequest<unknown>,
    revision: Revision
  ): Effect.fn.Return<Proposal> {
    const parent = ClauseEdit.read(bank, request.parent.text)
    const { tried } = revision
    const candidates: Array<Instruction.Candidate> = []
    for (const name of tried === undefined ? [asWritten] : [inAnyOrder(bank), asWritten]) {
      const taken = new Set([request.parent.text, ...(tried ?? []), ...candidates.map(({ text }) => text)].map(name))
      let repetitions = 0
      for (let draw = 0; draw < drawsPerCandidate * request.count && candidates.length < request.count; draw++) {
        const edited = yield* revision.edit(parent, repetitions)
        const text = ClauseEdit.write(edited)
        const isNew = text !== "" && !taken.has(name(text))
        repetitions = isNew ? 0 : repetitions + 1
        if (!isNew) continue
        taken.add(name(text))
        candidates.push({ text, rationale: rationale(parent, edited, revision) })
      }
    }
    return { critique: revision.critique, candidates, spent: Spent.nothing }
  },
  (effect, _, { seed, stream }) => SeededRandom.withStream(seed, stream)(effect)
)

const initial = Effect.fn("RuleBased.initial")(
  function* (bank: ReadonlyArray<Clause>, { count, parent }: InitialRequest<unknown>): Effect.fn.Return<Proposal> {
    const instruction = ClauseEdit.read(bank, parent.text)
    const shuffled = yield* Random.shuffle(ClauseEdit.adviceOf(bank))
    const fresh = shuffled.filter(({ text }) => !parent.text.includes(text))
    // One text of every clause before any clause returns in another wording.
    const first = Arr.dedupeWith(fresh, (a, b) => a.clause.id === b.clause.id)
    const candidates = Arr.take([...(yield* Random.shuffle(first)), ...Arr.difference(fresh, first)], count).map(
      (advice): Instruction.Candidate => {
        const edited = ClauseEdit.put(instruction, advice)
        return {
          text: ClauseEdit.write(edited),
          rationale: rationale(instruction, edited, { reason: () => "drawn at random" })
        }
      }
    )
    return { critique: "Nothing is known about the instruction yet.", candidates, spent: Spent.nothing }
  },
  (effect, _, { seed, stream }) => SeededRandom.withStream(seed, stream)(effect)
)

const asWritten = (text: string): string => text

/** What a text advises, in whatever order. */
const inAnyOrder =
  (bank: ReadonlyArray<Clause>) =>
  (text: string): string => {
    const { advice, base } = ClauseEdit.read(bank, text)
    return JSON.stringify([base, ...advice.map((one) => one.text).toSorted()])
  }

const rationale = (
  parent: ClauseEdit.AdvisedInstruction,
  edited: ClauseEdit.AdvisedInstruction,
  { reason, withdrawal }: Pick<Revision, "reason" | "withdrawal">
): string =>
  [
    ...ClauseEdit.lackingIn(parent, edited).map((advice) => `adds "${advice.text}" (${reason(advice)})`),
    ...ClauseEdit.lackingIn(edited, parent).map((advice) => `drops "${advice.text}"${withdrawal?.(advice) ?? ""}`)
  ].join("; ")
