import { assert, describe, it } from "@effect/vitest"
import { Probe } from "@inspo/analysis"
import { type Group, Instruction, Question, RandomStream, Trajectory } from "@inspo/domain"
import { Exact } from "@inspo/statistics"
import { Array as Arr, Schema } from "effect"

const Counts = Schema.Struct({
  groups: Schema.Literals([2, 9, 40, 300]),
  reached: Schema.Literals([0, 0.02, 0.1, 0.5, 1])
})
const Given = Schema.Struct({
  trains: Schema.Boolean,
  runGroups: Schema.Literals([6, 60, 240, 5000]),
  tellsApart: Schema.Literals([0, 0.03, 0.2, 1]),
  seed: Counts,
  variants: Schema.Array(
    Schema.Struct({
      counts: Counts,
      gain: Schema.Literals([-0.3, 0, 0.02, 0.1, 0.5]),
      half: Schema.Literals([0.01, 0.08, 0.4])
    })
  ).check(Schema.isMaxLength(4))
})
const countsOf = ({ groups, reached }: typeof Counts.Type): Probe.Counts => ({
  groups,
  reached: Math.round(groups * reached)
})
const evidenceOf = ({ seed, variants, ...given }: typeof Given.Type): Probe.Evidence => ({
  ...given,
  seed: countsOf(seed),
  variants: variants.map(({ counts, ...variant }) => ({ ...countsOf(counts), ...variant }))
})

/** The verdict if the shares and the largest gain were known. */
const known = (
  { runGroups, tellsApart, trains }: Probe.Evidence,
  seed: number,
  best: number,
  gain: number
): Probe.Decision => {
  const starts = (share: number) => 1 - (1 - share) ** (runGroups / 3) >= 0.95 - 1e-12
  if (!trains) return gain > tellsApart ? "evolve" : "keep-seed"
  if (!starts(seed)) return starts(best) ? "evolve-first" : "no-start"
  return gain > tellsApart ? "evolve-along" : "train-plainly"
}

const times = (evidence: Probe.Evidence, factor: number): Probe.Evidence => ({
  ...evidence,
  seed: { groups: factor * evidence.seed.groups, reached: factor * evidence.seed.reached },
  variants: evidence.variants.map(({ gain, groups, half, reached }) => ({
    groups: factor * groups,
    reached: factor * reached,
    gain,
    half: half / Math.sqrt(factor)
  }))
})

const isWithin = (some: ReadonlyArray<Probe.Decision>, all: ReadonlyArray<Probe.Decision>) =>
  assert.includeMembers([...all], [...some])

const withSeed = (evidence: Probe.Evidence, reached: number): Probe.Evidence => ({
  ...evidence,
  seed: { ...evidence.seed, reached }
})

const withVariants = (
  evidence: Probe.Evidence,
  change: (variant: Probe.Variant) => Partial<Probe.Variant>
): Probe.Evidence => ({
  ...evidence,
  variants: evidence.variants.map((variant) => ({ ...variant, ...change(variant) }))
})

describe("possible", () => {
  it.prop("holds the verdicts of everything within the intervals, and no other", [Given], ([given]) => {
    const evidence = evidenceOf(given)
    const level = 1 - 0.05 / Math.max(1, evidence.variants.length)
    // The two-sided quantiles of the normal distribution at 95, 97.5, 98.33 and 98.75 %.
    const wider = ([1.95996, 1.95996, 2.2414, 2.39398, 2.4977][evidence.variants.length] ?? NaN) / 1.95996
    const shares = evidence.variants.map(({ groups, reached }) => Exact.shareInterval(reached, groups, level))
    const corner = (end: 0 | 1) => ({
      seed: Exact.proportion(evidence.seed.reached, evidence.seed.groups).ci95[end],
      best: Math.max(0, ...shares.map((ends) => ends[end])),
      gain: Math.max(0, ...evidence.variants.map(({ gain, half }) => gain + (end === 0 ? -1 : 1) * wider * half))
    })
    const ends = [corner(0), corner(1)]
    const all = ends.flatMap(({ seed }) =>
      ends.flatMap(({ best }) => ends.map(({ gain }) => known(evidence, seed, best, gain)))
    )
    assert.sameMembers([...Probe.possible(evidence)], [...new Set(all)])
  })

  it.prop(
    "never decides that training starts, or does not, while the interval of the seed holds the threshold",
    [Given],
    ([given]) => {
      const evidence = { ...evidenceOf(given), trains: true }
      const { ci95 } = Exact.proportion(evidence.seed.reached, evidence.seed.groups)
      const start = Probe.startShare(evidence.runGroups)
      if (ci95[0] >= start || ci95[1] < start) return
      assert.isAbove(Probe.possible(evidence).length, 1)
    }
  )

  it.prop(
    "excludes no less by more evidence of the same kind",
    [Given, Schema.Literals([1.5, 4, 50])],
    ([given, factor]) => isWithin(Probe.possible(times(evidenceOf(given), factor)), Probe.possible(evidenceOf(given)))
  )

  it.prop("does not depend on the order of the variants", [Given], ([given]) => {
    const evidence = evidenceOf(given)
    assert.deepStrictEqual(
      Probe.possible({ ...evidence, variants: evidence.variants.toReversed() }),
      Probe.possible(evidence)
    )
  })

  it.prop("speaks for evolution the less, the more groups the seed reaches", [Given], ([given]) => {
    const evidence = evidenceOf(given)
    const found = (reached: number) => Probe.possible(withSeed(evidence, reached))
    const before = ["evolve-first", "no-start"] as const
    for (const one of before)
      if (found(evidence.seed.groups).includes(one)) assert.include(found(evidence.seed.reached), one)
    for (const one of ["evolve-along", "train-plainly"] as const)
      if (found(0).includes(one)) assert.include(found(evidence.seed.reached), one)
  })

  it.prop("speaks for evolution the more, the better the variants are", [Given], ([given]) => {
    const evidence = evidenceOf(given)
    const better = withVariants(evidence, ({ gain, groups }) => ({ gain: gain + 0.1, reached: groups }))
    for (const one of ["evolve", "evolve-along", "evolve-first"] as const)
      if (Probe.possible(evidence).includes(one)) assert.include(Probe.possible(better), one)
    for (const one of ["keep-seed", "train-plainly", "no-start"] as const)
      if (Probe.possible(better).includes(one)) assert.include(Probe.possible(evidence), one)
  })

  it("finds a better instruction among equal ones in at most 5 % of probes (statistical)", () => {
    const verdicts = Arr.makeBy(400, (probe) => {
      const { next } = RandomStream.make(probe, ["test"])
      const easy = Arr.makeBy(15, () => 0.8 * next())
      const groups = easy.flatMap((chance, question) =>
        instructions.map(({ id }) => groupOf(id, question, () => (next() < chance ? 1 : 0)))
      )
      return Probe.possible({
        ...Probe.evidenceOf(instructions, groups),
        trains: false,
        runGroups: 100,
        tellsApart: 0
      })
    })
    const wrong = verdicts.filter((possible) => !possible.includes("keep-seed"))
    assert.isAtMost(wrong.length / verdicts.length, 0.05)
    assert.isAbove(wrong.length, 0)
  })
})

const instructions = Arr.makeBy(7, (place) => Instruction.make(`Instruction ${place}.`, { id: `i${place}` }))

const groupOf = (instructionId: Instruction.InstructionId, question: number, reward: () => number): Group.Group => ({
  instructionId,
  questionId: Question.QuestionId.make(`q${question}`),
  dataSource: "test",
  promptTokens: 1,
  rewards: [reward(), reward(), reward(), reward()],
  trajectories: [
    idOf(instructionId, question, 0),
    idOf(instructionId, question, 1),
    idOf(instructionId, question, 2),
    idOf(instructionId, question, 3)
  ],
  toolCalls: [0, 0, 0, 0],
  responseTokens: [1, 1, 1, 1]
})

const idOf = (...parts: ReadonlyArray<string | number>) => Trajectory.TrajectoryId.make(parts.join("/"))

describe("evidenceOf", () => {
  it("counts groups, and compares with the seed on the questions of both", () => {
    const [seed, variant] = instructions
    const groups = Arr.range(0, 59).flatMap((question) => [
      groupOf(seed.id, question, () => (question % 2 === 0 ? 0 : 0.5)),
      ...(question < 30 && variant !== undefined
        ? [groupOf(variant.id, question, () => (question % 2 === 0 ? 0.5 : 1))]
        : [])
    ])
    const found = Probe.evidenceOf([seed, ...(variant === undefined ? [] : [variant])], groups)
    assert.deepStrictEqual(found.seed, { groups: 60, reached: 0 })
    const [only] = found.variants
    assert.strictEqual(only?.groups, 30)
    assert.strictEqual(only?.reached, 15)
    assert.closeTo(only?.gain ?? NaN, 0.5, 0.02)
  })
})

describe("isReached", () => {
  it("has the chance 1 - (1 - p)^G if each reward is 1 with the chance p, else 0", () => {
    for (const size of [1, 2, 5])
      for (const chance of [0.01, 0.3, 0.9]) {
        const all = Arr.range(0, 2 ** size - 1).map((bits) => Arr.makeBy(size, (place) => (bits >> place) & 1))
        const weight = (rewards: ReadonlyArray<number>) =>
          rewards.reduce((product, reward) => product * (reward === 1 ? chance : 1 - chance), 1)
        const reached = all.filter((rewards) => Probe.isReached(rewards)).reduce((sum, one) => sum + weight(one), 0)
        assert.closeTo(reached, 1 - (1 - chance) ** size, 1e-12)
      }
  })

  it("counts parts of a reward, and no reward that all rollouts get", () => {
    assert.isTrue(Probe.isReached([0, 0.3, 0]))
    assert.isFalse(Probe.isReached([0.1, 0.1]))
  })
})

describe("timesNeeded", () => {
  it.prop("is about the first multiple of the evidence that decides", [Given], ([given]) => {
    const evidence = evidenceOf(given)
    const found = Probe.timesNeeded(evidence, 100)
    const decides = (factor: number) => Probe.possible(times(evidence, factor)).length === 1
    if (found === null) assert.isFalse(decides(90))
    else {
      assert.isTrue(decides(found * (1 + 1e-9)))
      if (found > 1) assert.isFalse(decides(found / 1.11))
    }
  })
})

describe("share", () => {
  it.prop(
    "divides no more than there is",
    [Schema.Literals([4, 17, 100]), Schema.Literals([1, 3]), Schema.Literals([2, 50])],
    ([groups, count, questions]) => {
      const each = Probe.share(groups, count, questions)
      assert.isAtMost(each * count, groups)
      assert.isAtMost(each, questions)
      assert.isTrue((each + 1) * count > groups || each === questions)
    }
  )
})
