import { assert, describe, it } from "@effect/vitest"
import { SampleRatio, Settings, snapshot } from "@inspo/cohorts"
import { Instruction, Question, RandomStream } from "@inspo/domain"
import { Array as Arr, Schema } from "effect"
import { changed } from "./support/Changed.ts"
import { Server } from "./support/Server.ts"

const id = (place: number) => Instruction.InstructionId.make(`i${place}`)
const sharesOf = (...probabilities: ReadonlyArray<number>) =>
  probabilities.map((probability, place) => ({ id: id(place), probability }))

/** Units until the alarm, from the first wrong one on; null without one in so many. */
const untilAlarm = (
  seed: number,
  shares: ReturnType<typeof sharesOf>,
  { from = 0, most, wrong }: { readonly from?: number; readonly most: number; readonly wrong: number }
): number | null => {
  const luck = RandomStream.make(seed, ["sample ratio"])
  const last = shares.length - 1
  const moved = wrong / (1 - (shares[last]?.probability ?? 0))
  let ratio = SampleRatio.none
  for (let unit = 0; unit < from + most; unit++) {
    let [left, place] = [luck.next(), 0]
    while (place < last && left >= (shares[place]?.probability ?? 0)) left -= shares[place++]?.probability ?? 0
    const isMoved = luck.next() < moved && unit >= from
    ratio = SampleRatio.after(ratio, shares, [{ instruction: id(isMoved ? last : place), question: null }])
    if (ratio.evidence >= SampleRatio.alarm) return unit + 1 - from
  }
  return null
}

const times = (count: number, run: (seed: number) => number | null) =>
  Arr.makeBy(count, run).map((found) => found ?? Infinity)

const capitalOf = ({ counts, reserve, stake }: SampleRatio.SampleRatio) =>
  Object.values(counts).reduce((sum, count) => sum + count.stake, stake + reserve)

/** The weights of three members, which may leave and return, and which of those that can be drawn a unit gets. */
const Weight = Schema.Literals([0, 1, 5, 30])
const Weights = Schema.Tuple([Weight, Weight, Weight])
const History = Schema.Array(Schema.Tuple([Weights, Schema.Literals([0, 1, 2])])).check(Schema.isMaxLength(40))

describe("the sample ratio", () => {
  it.prop(
    "has a capital that is expected to stay as it is, whatever happened, and as members come and go",
    [History, Schema.Boolean],
    ([history, isLeft]) => {
      let ratio = SampleRatio.none
      for (const [weights, place] of history) {
        const all = weights.reduce<number>((sum, weight) => sum + weight, 0)
        if (all === 0) continue
        const shares = weights
          .map((weight, place) => ({ id: id(place), probability: weight / all }))
          .filter(({ probability }) => !isLeft || probability > 0)
        const after = shares
          .filter(({ probability }) => probability > 0)
          .map(({ id, probability }) => ({
            probability,
            next: SampleRatio.after(ratio, shares, [{ instruction: id, question: null }])
          }))
        const expected = after.reduce((sum, { next, probability }) => sum + probability * capitalOf(next), 0)
        assert.approximately(expected / capitalOf(ratio), 1, 1e-9)
        ratio = after[place % after.length]?.next ?? ratio
      }
    }
  )

  it("raises at most 1 % false alarms in a lifetime", () => {
    const alarms = times(150, (seed) => untilAlarm(seed, sharesOf(0.6, 0.3, 0.1), { most: 3000, wrong: 0 }))
    // At a rate of 1 %, six or more of 150 happen once in 250 times.
    assert.isAtMost(alarms.filter(Number.isFinite).length, 5)
  })

  it("mostly raises the alarm within 1,000 leases once 5 % get the instruction of a small share, also after a long life", () => {
    for (const [share, least] of [
      [0.05, 95],
      [0.1, 85]
    ] as const) {
      const soon = times(100, (seed) => untilAlarm(seed, sharesOf(1 - share, share), { most: 1000, wrong: 0.05 }))
      assert.isAtLeast(soon.filter(Number.isFinite).length, least)
    }
    const late = times(40, (seed) => untilAlarm(seed, sharesOf(0.9, 0.1), { from: 8000, most: 2000, wrong: 0.05 }))
    assert.isAtLeast(late.filter(Number.isFinite).length, 32)
  })

  it("raises it less often at a share of a half, where a bet that knows which instruction has too many raises it in two of three cases", () => {
    const shares = sharesOf(0.5, 0.5)
    const own = times(100, (seed) => untilAlarm(seed, shares, { most: 1000, wrong: 0.05 }))
    assert.isAtLeast(own.filter(Number.isFinite).length, 45)
    const knowing = times(400, (seed) => {
      const luck = RandomStream.make(seed, ["sample ratio"])
      let capital = 1
      for (let unit = 1; unit <= 1000; unit++) {
        capital *= luck.next() < 0.55 ? 0.55 / 0.5 : 0.45 / 0.5
        if (capital >= SampleRatio.alarm) return unit
      }
      return null
    })
    assert.isAtMost(knowing.filter(Number.isFinite).length / 400, 0.74)
  })

  it("notices also a smaller fault, in time", () => {
    const found = times(10, (seed) => untilAlarm(seed, sharesOf(0.5, 0.5), { most: 20_000, wrong: 0.02 }))
    assert.isAtLeast(found.filter(Number.isFinite).length, 8)
  })

  it("is quiet about questions that were asked twice, and unmoved by cohorts of one instruction", () => {
    const unit = (instruction: Instruction.InstructionId, question: string | null) => ({
      instruction,
      question: question === null ? null : Question.QuestionId.make(question)
    })
    const twice = [unit(id(1), "q"), unit(id(1), "q")]
    assert.strictEqual(SampleRatio.after(SampleRatio.none, sharesOf(0.9, 0.1), twice), SampleRatio.none)
    const alone = SampleRatio.after(
      SampleRatio.none,
      sharesOf(1),
      Arr.makeBy(500, () => unit(id(0), null))
    )
    assert.approximately(alone.evidence, 1, 1e-9)
  })

  it("notices a client that abandons the work of one instruction, since what is left is no fair comparison", () => {
    const after = (abandons: (instruction: string, luck: number) => boolean) => {
      const luck = RandomStream.make(5, ["abandoned"])
      const settings = changed(Settings.trainer(1), { evolveEvery: 0, pruneEvery: 0 })
      const server = new Server(settings, ["seed", "variant"])
      for (let now = 1; now <= 15; now++) {
        const cohort = `train/${now}`
        const keys = Arr.makeBy(64, (index) => `${index}`)
        const leases = server.lease(now, keys, cohort)
        server.reward(
          now,
          leases.map(({ instruction, lease }) => ({
            lease,
            value: abandons(instruction, luck.next()) ? ("abandoned" as const) : 0.5
          }))
        )
        server.do({ _tag: "Close", now, cohort, groups: null })
      }
      return snapshot(server.strategies, server.state).sampleRatio.evidence
    }
    assert.isBelow(
      after((_, luck) => luck < 0.3),
      20
    )
    assert.isAtLeast(
      after((instruction, luck) => instruction === "i1" && luck < 0.3),
      SampleRatio.alarm
    )
  })
})
