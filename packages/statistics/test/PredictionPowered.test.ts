import { assert, describe, it } from "@effect/vitest"
import { RandomStream } from "@inspo/domain"
import { Moments, PredictionPowered } from "../src/index.ts"

const simulations = 1500

/** Exact scores of 0 or 1 and what a judge says of them, of so many labelled cases and others. */
const drawn = (
  judge: (exact: number, next: () => number) => number,
  share: number,
  labelled: number,
  others: number
) => {
  const stream = RandomStream.make(7, [share, labelled, others])
  const draw = () => {
    const exact = stream.next() < share ? 1 : 0
    return { exact, judged: judge(exact, () => stream.next()) }
  }
  return Array.from({ length: simulations }, () => {
    const some = Array.from({ length: labelled }, draw)
    const rest = Array.from({ length: others }, () => draw().judged)
    return {
      some,
      rest,
      found: PredictionPowered.mean(some, rest),
      alone: PredictionPowered.mean(some, [])
    }
  })
}

const judges = {
  "that is right": (exact: number) => exact,
  "that is kind": (exact: number, next: () => number) => Math.min(1, exact + 0.5 * next()),
  "that is often wrong": (exact: number, next: () => number) => (next() < 0.3 ? 1 - exact : exact),
  "that says nothing": (_: number, next: () => number) => next(),
  "that says the contrary": (exact: number, next: () => number) => 0.8 * (1 - exact) + 0.2 * next()
}

describe("a mean corrected by labels", { tags: "deep" }, () => {
  it.each(
    Object.keys(judges).flatMap((kind) =>
      [
        [0.5, 12],
        [0.85, 30],
        [0.05, 60]
      ].map(([share = 0, labelled = 0]) => ({ kind, share, labelled }))
    )
  )("is unbiased, and its interval holds, with a judge $kind: share $share, $labelled labels", (cell) => {
    const judge = judges[cell.kind as keyof typeof judges]
    const all = drawn(judge, cell.share, cell.labelled, 200)
    const means = all.map(({ found }) => found.mean)
    const error = Moments.deviation(means) / Math.sqrt(simulations)
    assert.isBelow(Math.abs(Moments.mean(means) - cell.share), 4 * error)
    for (const isWrong of [
      ({ lower }: PredictionPowered.Corrected) => lower > cell.share,
      ({ upper }: PredictionPowered.Corrected) => upper < cell.share
    ])
      assert.isAtMost(all.filter(({ found }) => isWrong(found)).length / simulations, 0.065)
  })

  it("is not the mean of a judge that is kind", () => {
    const all = drawn(judges["that is kind"], 0.5, 30, 200)
    const judged = Moments.mean(all.flatMap(({ rest, some }) => [...rest, ...some.map((one) => one.judged)]))
    assert.isAbove(judged, 0.6)
    assert.closeTo(Moments.mean(all.map(({ found }) => found.mean)), 0.5, 0.01)
  })

  it("has a much shorter interval than the labels alone with a good judge, and none that is much longer", () => {
    const width = ({ lower, upper }: PredictionPowered.Corrected) => upper - lower
    const ratio = (kind: keyof typeof judges) => {
      const all = drawn(judges[kind], 0.5, 40, 400)
      return Moments.mean(all.map(({ found }) => width(found))) / Moments.mean(all.map(({ alone }) => width(alone)))
    }
    assert.isBelow(ratio("that is right"), 0.75)
    for (const kind of ["that says nothing", "that says the contrary"] as const) assert.isBelow(ratio(kind), 1.05)
  })
})
