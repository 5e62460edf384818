/** The moves of the rule-based proposer: small edits of an instruction with the texts of a clause bank. */
import { Array as Arr, Effect, Random } from "effect"
import type { Clause } from "./ClauseBank.ts"

/** One text of the bank. */
export interface Advice {
  readonly clause: Clause
  readonly text: string
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

/** Takes the advice of a bank out of an instruction, in the order it stands there. */
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

/**
 * Gives advice. It takes the place of another wording of itself and of advice to do the opposite; otherwise it comes
 * last.
 */
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
 * Edits an instruction at random by one or two moves: mostly giving advice, drawn by the weight of its clause and then
 * with any wording that does not stand there yet; at times withdrawing some. Advice beyond {@link maxAdviceWords} drives
 * out other advice. Weights are at least 0.
 */
export const draw = Effect.fnUntraced(function* (
  bank: ReadonlyArray<Clause>,
  instruction: AdvisedInstruction,
  weight: (clause: Clause) => number
): Effect.fn.Return<AdvisedInstruction> {
  const moves = (yield* Random.nextBoolean) ? 2 : 1
  let edited = instruction
  for (let move = 0; move < moves; move++) {
    const { advice } = edited
    if (Arr.isReadonlyArrayNonEmpty(advice) && (yield* Random.next) < withdrawRate) {
      edited = withdraw(edited, (yield* Random.choice(advice)).text)
    } else {
      edited = yield* give(bank, edited, weight)
    }
  }
  return edited
})

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
  weight: (clause: Clause) => number
): Effect.fn.Return<AdvisedInstruction> {
  const written = new Set(instruction.advice.map(({ text }) => text))
  const options = bank.flatMap((clause) => {
    const texts = clause.texts.filter((text) => !written.has(text))
    return Arr.isReadonlyArrayNonEmpty(texts) ? [{ clause, texts, weight: weight(clause) }] : []
  })
  const option = yield* weighted(options)
  if (option === undefined) return instruction
  const given = { clause: option.clause, text: yield* Random.choice(option.texts) }
  let advised = put(instruction, given)
  while (adviceWords(advised) > maxAdviceWords) {
    const others = advised.advice.filter(({ text }) => text !== given.text)
    if (!Arr.isReadonlyArrayNonEmpty(others)) break
    advised = withdraw(advised, (yield* Random.choice(others)).text)
  }
  return advised
})

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
