/** The moves of the rule-based proposer: small edits of an instruction with the texts of a clause bank. */
import { Array as Arr, Effect, Random } from "effect"
import type { Clause } from "./ClauseBank.ts"

/** One text of the bank; `from` names the instruction that it was taken from, if an edit took it from one. */
export interface Advice {
  readonly clause: Clause
  readonly text: string
  readonly from?: string
}

/** An instruction in two parts: what no edit touches, such as the protocol, and the advice of the bank that follows. */
export interface AdvisedInstruction {
  readonly base: string
  readonly advice: ReadonlyArray<Advice>
}

/** Edits keep the advice within so many words; what an instruction says besides does not count. */
export const maxAdviceWords = 60

/** Every text of a bank, in bank order. */
export const adviceOf = (bank: ReadonlyArray<Clause>): ReadonlyArray<Advice> =>
  bank.flatMap((clause) => clause.texts.map((text) => ({ clause, text })))

/** Takes the advice of a bank out of an instruction, in the order it has there. */
export const read = (bank: ReadonlyArray<Clause>, instruction: string): AdvisedInstruction => {
  const advice = adviceOf(bank)
  return {
    base: advice.reduce((rest, { text }) => rest.replaceAll(` ${text}`, "").replaceAll(text, ""), instruction).trim(),
    advice: advice
      .filter(({ text }) => instruction.includes(text))
      .sort((a, b) => instruction.indexOf(a.text) - instruction.indexOf(b.text))
  }
}

/** The text of an instruction: its base, then its advice. */
export const write = ({ advice, base }: AdvisedInstruction): string =>
  [base, ...advice.map(({ text }) => text)].filter((part) => part !== "").join(" ")

/** Gives advice. It takes the place of another wording of itself and of advice to do the opposite; otherwise it comes last. */
export const put = ({ advice, base }: AdvisedInstruction, given: Advice): AdvisedInstruction => {
  const place = advice.findIndex((one) => contradicts(one, given))
  const others = advice.filter((one) => !contradicts(one, given))
  return { base, advice: place < 0 ? [...advice, given] : others.toSpliced(place, 0, given) }
}

/** Withdraws advice. */
export const withdraw = ({ advice, base }: AdvisedInstruction, text: string): AdvisedInstruction => ({
  base,
  advice: advice.filter((one) => one.text !== text)
})

/** How often an edit withdraws advice instead of giving it. */
const withdrawRate = 0.15

/**
 * What an edit prefers besides the weights of clauses: wordings, and advice to withdraw, which is withdrawn that much more
 * often. Without preferences all wordings are equally likely, and all advice. `further` moves follow the usual ones; they
 * withdraw advice as often as they give some.
 */
export interface Preferences {
  readonly wording?: (text: string) => number
  readonly withdrawal?: (clause: Clause) => number
  readonly further?: number
}

/**
 * Edits an instruction at random by one or two moves: mostly giving advice, drawn by the weight of its clause and then
 * with any wording that is not there yet; at times withdrawing some. Advice beyond {@link maxAdviceWords} drives
 * out other advice. Weights are at least 0, those of wordings and withdrawals above 0.
 */
export const draw = Effect.fnUntraced(function* (
  bank: ReadonlyArray<Clause>,
  instruction: AdvisedInstruction,
  weight: (clause: Clause) => number,
  { further = 0, withdrawal, wording }: Preferences = {}
): Effect.fn.Return<AdvisedInstruction> {
  const moves = (yield* Random.nextBoolean) ? 2 : 1
  const undesired = withdrawal === undefined ? undefined : ({ clause }: Advice) => withdrawal(clause)
  const rate = (advice: ReadonlyArray<Advice>) =>
    withdrawRate * (undesired === undefined ? 1 : Math.max(...advice.map(undesired)))
  let edited = instruction
  for (let move = 0; move < moves + further; move++) {
    const { advice } = edited
    if (Arr.isReadonlyArrayNonEmpty(advice) && (yield* Random.next) < (move < moves ? rate(advice) : 1 / 2)) {
      edited = withdraw(edited, (yield* choose(advice, undesired)).text)
    } else {
      edited = yield* give(bank, edited, weight, wording)
    }
  }
  return edited
})

/**
 * Gives an instruction some of the advice of another that it lacks, and says where it is from. Advice that would drive out
 * the last of its own, or that exceeds {@link maxAdviceWords}, is left out.
 */
export const combine = Effect.fnUntraced(function* (
  instruction: AdvisedInstruction,
  other: AdvisedInstruction,
  from: string
): Effect.fn.Return<AdvisedInstruction> {
  const lacking = yield* Random.shuffle(lackingIn(instruction, other))
  const taken = Arr.take(lacking, yield* Random.nextIntBetween(1, lacking.length))
  const own = new Set(instruction.advice.map(({ text }) => text))
  return taken.reduce((combined, advice) => {
    const next = put(combined, { ...advice, from })
    return next.advice.some(({ text }) => own.has(text)) && adviceWords(next) <= maxAdviceWords ? next : combined
  }, instruction)
})

/** The advice of another instruction that one lacks. */
export const lackingIn = ({ advice }: AdvisedInstruction, other: AdvisedInstruction): ReadonlyArray<Advice> => {
  const own = new Set(advice.map(({ text }) => text))
  return other.advice.filter(({ text }) => !own.has(text))
}

/**
 * Says an instruction otherwise: each piece of advice keeps its clause and takes any of its wordings, and at most two
 * clauses that concern no behaviour are given or withdrawn. Advice stays within {@link maxAdviceWords}, or unchanged.
 */
export const paraphrase = Effect.fnUntraced(function* (
  bank: ReadonlyArray<Clause>,
  { advice, base }: AdvisedInstruction
): Effect.fn.Return<AdvisedInstruction> {
  const neutral = bank.filter(({ behaviour }) => behaviour === null)
  const reworded = yield* Effect.forEach(advice, ({ clause }) =>
    Effect.map(Random.choice(clause.texts), (text) => ({ clause, text }))
  )
  let edited: AdvisedInstruction = { base, advice: reworded }
  for (const clause of Arr.take(yield* Random.shuffle(neutral), yield* Random.nextIntBetween(0, 2))) {
    const standing = edited.advice.find((one) => one.clause.id === clause.id)
    edited =
      standing === undefined
        ? put(edited, { clause, text: yield* Random.choice(clause.texts) })
        : withdraw(edited, standing.text)
  }
  return adviceWords(edited) > maxAdviceWords ? { advice, base } : edited
})

const give = Effect.fnUntraced(function* (
  bank: ReadonlyArray<Clause>,
  instruction: AdvisedInstruction,
  weight: (clause: Clause) => number,
  wording?: (text: string) => number
): Effect.fn.Return<AdvisedInstruction> {
  const written = new Set(instruction.advice.map(({ text }) => text))
  const options = bank.flatMap((clause) => {
    const texts = clause.texts.filter((text) => !written.has(text))
    return Arr.isReadonlyArrayNonEmpty(texts) ? [{ clause, texts, weight: weight(clause) }] : []
  })
  const option = yield* weighted(options)
  if (option === undefined) return instruction
  const given = { clause: option.clause, text: yield* choose(option.texts, wording) }
  let advised = put(instruction, given)
  while (adviceWords(advised) > maxAdviceWords) {
    const others = advised.advice.filter(({ text }) => text !== given.text)
    if (!Arr.isReadonlyArrayNonEmpty(others)) break
    advised = withdraw(advised, (yield* Random.choice(others)).text)
  }
  return advised
})

/** One of the elements; with `weight`, which is above 0, in proportion to it. */
const choose = <A>(elements: Arr.NonEmptyReadonlyArray<A>, weight?: (element: A) => number): Effect.Effect<A> =>
  weight === undefined
    ? Random.choice(elements)
    : Effect.map(
        weighted(elements.map((element) => ({ element, weight: weight(element) }))),
        (option) => option?.element ?? Arr.lastNonEmpty(elements)
      )

/** Draws an option with probability proportional to its weight; undefined when no option weighs anything. */
const weighted = <A extends { readonly weight: number }>(options: ReadonlyArray<A>): Effect.Effect<A | undefined> =>
  Effect.map(Random.next, (uniform) => {
    let left = uniform * options.reduce((total, option) => total + option.weight, 0)
    return options.find((option) => (left -= option.weight) < 0)
  })

const contradicts = (a: Advice, b: Advice): boolean =>
  a.clause.id === b.clause.id ||
  (a.clause.behaviour !== null &&
    a.clause.behaviour === b.clause.behaviour &&
    a.clause.direction !== b.clause.direction)

const adviceWords = ({ advice }: AdvisedInstruction): number =>
  advice.reduce((total, { text }) => total + text.split(" ").length, 0)
