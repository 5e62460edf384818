import { assert, describe, it } from "@effect/vitest"
import { Question } from "@inspo/domain"
import * as fc from "fast-check"
import { EarlyStop, Round, Verification } from "../src/index.ts"

const question = (index: number) => Question.QuestionId.make(`q${index}`)

/** What everybody would score on every question; null where a rollout would fail. The parent comes first. */
interface World {
  readonly answers: ReadonlyArray<ReadonlyArray<number | null>>
  readonly questions: number
  readonly interim: number | null
  readonly stop: number | null
  readonly race: boolean
  readonly places: number
}

const world: fc.Arbitrary<World> = fc
  .record({
    candidates: fc.integer({ min: 0, max: 4 }),
    questions: fc.integer({ min: 1, max: 30 }),
    interim: fc.option(fc.integer({ min: 1, max: 9 })),
    stop: fc.constantFrom(null, 0.01, 0.3, 0.9),
    race: fc.boolean(),
    places: fc.integer({ min: 0, max: 3 })
  })
  .chain(({ candidates, ...rest }) => {
    const answer = fc.oneof({ arbitrary: fc.constantFrom(0, 0.5, 1), weight: 9 }, fc.constant(null))
    const row = fc.array(answer, { minLength: rest.questions, maxLength: rest.questions })
    return fc
      .array(row, { minLength: candidates + 1, maxLength: candidates + 1 })
      .map((answers) => ({ ...rest, answers }))
  })

const ruleOf = ({ race, stop }: World) => Verification.rerunParent({ rounds: 1, fill: false, stop, race })

/** Holds a round of rollouts of its own to its end: the round, and who was asked how many questions in each batch. */
const hold = (given: World) => {
  const { answers, interim, places, questions } = given
  const design = { questions, interim, inlineVerification: false }
  const ids = Array.from({ length: questions }, (_, index) => question(index))
  const asked: Array<{ readonly remaining: ReadonlyArray<number>; readonly size: number }> = []
  let round = Round.begin(answers.length - 1)
  while (round.remaining.length > 0) {
    const batch = Round.nextQuestions(design, round, ids)
    asked.push({ remaining: round.remaining, size: batch.length })
    round = Round.record(round, scored(given, round, batch, round.asked))
    round = Round.proceed(round, Round.analyse(ruleOf(given), design, round, { places, isLast: false }).remaining)
  }
  return { round, asked }
}

/** A batch of questions from `first` on, as rollouts would answer it. */
const scored = (
  { answers }: World,
  { candidates, remaining }: Round.Round,
  questions: ReadonlyArray<Question.QuestionId>,
  first: number
): Round.Batch => {
  const at = new Map(questions.map((id, index) => [id, first + index]))
  const answer = (arm: number, id: Question.QuestionId) => answers[arm]?.[at.get(id) ?? NaN] ?? null
  return Round.scored(
    { candidates, remaining },
    questions,
    (id) => answer(0, id),
    (place, id) => answer(place + 1, id)
  )
}

/** The same round without a machine: question by question, everyone who is still in, as plain lists. */
const naive = ({ answers, interim, places, questions, race, stop }: World) => {
  const [parent = [], ...candidates] = answers
  const kept: Array<number> = []
  const scores: Array<Array<number>> = candidates.map(() => [])
  let inside = candidates.map((_, place) => place)
  for (let index = 0; index < questions && inside.length > 0; index++) {
    if ([parent, ...inside.map((place) => candidates[place] ?? [])].every((own) => own[index] !== null)) {
      kept.push(parent[index] ?? NaN)
      for (const place of inside) scores[place]?.push(candidates[place]?.[index] ?? NaN)
    }
    const asked = index + 1
    if (stop === null || asked === questions || asked % (interim ?? questions) > 0) continue
    const total = kept.length + questions - asked
    const fate = (own: ReadonlyArray<number>, other: ReadonlyArray<number>) => {
      const both = Math.min(own.length, other.length)
      const differences = own.slice(0, both).map((score, place) => score - (other[place] ?? NaN))
      return EarlyStop.outcome(differences, { questions: total, risk: stop })
    }
    const winners = scores.filter((own) => fate(own, kept) === "ahead")
    inside = inside.filter((place) => {
      const own = scores[place] ?? []
      if (fate(own, kept) !== null) return false
      return !race || winners.filter((winner) => fate(winner, own) === "ahead").length < places
    })
  }
  return { scores, parent: kept }
}

describe("a round of verification", () => {
  it("gives every arm the scores of the same round without a state machine", () => {
    let left = 0
    let failed = 0
    fc.assert(
      fc.property(world, (given) => {
        const { round } = hold(given)
        const expected = naive(given)
        assert.deepStrictEqual(round.candidates, expected.scores)
        if (round.candidates.length > 0) assert.deepStrictEqual(round.parent, expected.parent)
        if (round.candidates.some((own) => own.length < round.questions.length)) left++
        if (round.questions.length < round.asked) failed++
      }),
      { numRuns: 1000, seed: 7 }
    )
    assert.isAbove(left, 50)
    assert.isAbove(failed, 50)
  })

  it("asks each question once, of remaining candidates only, in batches of the size between two analyses", () => {
    fc.assert(
      fc.property(world, (given) => {
        const { asked, round } = hold(given)
        assert.isAtMost(round.asked, given.questions)
        assert.strictEqual(
          asked.reduce((total, { size }) => total + size, 0),
          round.asked
        )
        for (const [index, { remaining, size }] of asked.entries()) {
          if (index < asked.length - 1) assert.strictEqual(size, given.interim)
          assert.includeMembers([...(asked[index - 1]?.remaining ?? remaining)], [...remaining])
        }
      })
    )
  })

  it("with one analysis at the end is the same at any risk, and without early stops the same in any batches", () => {
    fc.assert(
      fc.property(world, (given) => {
        const whole = hold({ ...given, interim: null, stop: null }).round
        const { asked, candidates, parent, questions } = hold({ ...given, stop: null }).round
        assert.deepStrictEqual(
          { asked, candidates, parent, questions },
          {
            asked: whole.asked,
            candidates: whole.candidates,
            parent: whole.parent,
            questions: whole.questions
          }
        )
        assert.deepStrictEqual(hold({ ...given, interim: null }).round, whole)
      })
    )
  })

  it("in steps has the scores of a separate round if a step has room for a batch and nothing fails", () => {
    fc.assert(
      fc.property(world, fc.integer({ min: 1, max: 9 }), (some, interim) => {
        const answers = some.answers.map((own) => own.map((score) => score ?? 0))
        const given = { ...some, answers, interim }
        const design = { questions: given.questions, interim, inlineVerification: true }
        let round = Round.begin(answers.length - 1)
        while (round.remaining.length > 0) {
          const groups = interim * (1 + round.remaining.length)
          const batch = Array.from({ length: groups }, (_, index) => ({ id: question(round.asked + index) }))
          const { asked } = Round.divide(design, round, { batch, excluded: [] })
          const ids = asked.map(({ id }) => id)
          round = Round.record(round, scored(given, round, ids, round.asked))
          const context = { places: given.places, isLast: false }
          round = Round.proceed(round, Round.analyse(ruleOf(given), design, round, context).remaining)
        }
        assert.deepStrictEqual(round, hold(given).round)
      })
    )
  })

  it("in steps asks another question for each that an arm failed on", () => {
    fc.assert(
      fc.property(world, fc.integer({ min: 1, max: 9 }), (some, interim) => {
        fc.pre(some.answers.length > 1)
        const { questions } = some
        const design = { questions, interim, inlineVerification: true }
        // The parent fails on every question of an odd number.
        const answers = some.answers.map((own, arm) =>
          Array.from({ length: 2 * questions }, (_, index) => (arm === 0 && index % 2 === 1 ? null : (own[0] ?? 1)))
        )
        const given = { ...some, answers, interim, stop: null }
        let round = Round.begin(answers.length - 1)
        while (round.remaining.length > 0) {
          const batch = Array.from({ length: 2 * answers.length }, (_, index) => ({
            id: question(round.asked + index)
          }))
          const ids = Round.divide(design, round, { batch, excluded: [] }).asked.map(({ id }) => id)
          round = Round.record(round, scored(given, round, ids, round.asked))
          const context = { places: given.places, isLast: false }
          round = Round.proceed(round, Round.analyse(ruleOf(given), design, round, context).remaining)
        }
        assert.lengthOf(round.questions, questions)
        for (const scores of round.candidates) assert.lengthOf(scores, questions)
      })
    )
  })

  it("takes of a step's batch whole groups of questions that are not excluded, and leaves the rest to others", () => {
    const ids = fc.uniqueArray(fc.integer({ min: 0, max: 40 }), { maxLength: 20 })
    fc.assert(
      fc.property(
        ids,
        ids,
        fc.integer({ min: 0, max: 5 }),
        fc.integer({ min: 1, max: 9 }),
        (batch, excluded, candidates, most) => {
          const round = Round.begin(candidates)
          const given = batch.map((index) => ({ id: question(index) }))
          const { asked, others } = Round.divide({ questions: most, interim: null, inlineVerification: true }, round, {
            batch: given,
            excluded: excluded.map(question)
          })
          assert.isAtMost(asked.length, most)
          assert.isAtMost(asked.length * (1 + candidates) + others.length, batch.length)
          for (const one of asked) {
            assert.notInclude(excluded.map(question), one.id)
            assert.notInclude(others, one)
          }
          const isFull = asked.length === most || (asked.length + 1) * (1 + candidates) > batch.length
          assert.isTrue(isFull || others.every(({ id }) => excluded.map(question).includes(id)))
        }
      )
    )
  })

  it("in steps ends where no step follows or the last one could ask nothing, and cuts short those that would have stayed", () => {
    const design = { questions: 9, interim: 1, inlineVerification: true }
    const rule = Verification.rerunParent({ rounds: 1, fill: false, stop: 0.01 })
    const batch = { asked: 1, questions: [question(0)], candidates: [[1]], parent: [0] }
    const context = { places: 1, isLast: false }
    const after = Round.record(Round.begin(1), batch)
    const goesOn = { remaining: [0], cutShort: [] }
    const ends = { remaining: [], cutShort: [0] }
    assert.deepStrictEqual(Round.analyse(rule, design, after, context), goesOn)
    assert.deepStrictEqual(Round.analyse(rule, design, after, { ...context, isLast: true }), ends)
    const empty = Round.record(after, { asked: 1, questions: [], candidates: [[]], parent: [] })
    assert.deepStrictEqual(Round.analyse(rule, design, empty, context), ends)
    assert.deepStrictEqual(Round.analyse(rule, { ...design, inlineVerification: false }, empty, context), goesOn)
  })

  it("passes no candidate of a round that was cut short, unless the rest could not have changed the verdict", () => {
    fc.assert(
      fc.property(world, fc.integer({ min: 1, max: 30 }), (some, last) => {
        const answers = some.answers.map((own) => own.map((score) => score ?? 0))
        const given = { ...some, answers }
        const design = { questions: given.questions, interim: null, inlineVerification: true }
        const rule = ruleOf(given)
        const ids = Array.from({ length: Math.min(last, given.questions) }, (_, index) => question(index))
        const begun = Round.begin(answers.length - 1)
        const round = Round.record(begun, scored(given, begun, ids, 0))
        const { cutShort } = Round.analyse(rule, design, round, { places: given.places, isLast: true })
        const verdicts = Round.judge(rule, round, { cutShort, storedParentMean: null })
        const whole = rule.judge({ ...round, storedParentMean: null })
        for (const [place, verdict] of verdicts.entries()) {
          const isOpen = ids.length < given.questions && (given.stop === null || cutShort.includes(place))
          if (isOpen) assert.isFalse(verdict.accepted)
          else assert.deepStrictEqual(verdict, whole[place])
        }
      })
    )
  })

  it("takes no batch of other candidates, and no parent that is run again in one batch only", () => {
    const batch = { asked: 1, questions: [question(0)], candidates: [[1]], parent: [0] }
    assert.throws(() => Round.record(Round.begin(2), batch), /candidates of a batch/u)
    const round = Round.record(Round.begin(1), batch)
    assert.throws(() => Round.record(round, { ...batch, parent: null }), /the parent's score in one of two batches/u)
  })
})
