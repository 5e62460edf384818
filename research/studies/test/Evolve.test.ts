import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import * as Evolve from "../src/Evolve.ts"
import * as Claims from "../src/evolve/Claims.ts"
import * as Outcome from "../src/evolve/Outcome.ts"
import * as Power from "../src/evolve/Power.ts"
import * as Protocol from "../src/evolve/Protocol.ts"
import { rivals, tuningWorlds } from "../src/evolve/Rivals.ts"
import * as Trial from "../src/evolve/Trial.ts"
import { bank, bestOf, seedPrompt, type World, worlds } from "../src/evolve/World.ts"
import { InvalidStudy } from "../src/Host.ts"

const input = { simulations: 1, seed: 3, out: "out" }

/** A host with files in memory. */
const hostOf = (code: string, files: Map<string, string>, written: Array<string> = []) => {
  const never = () => Effect.fail(new InvalidStudy({ problem: "not for simulations" }))
  return {
    code,
    commit: "",
    program: "inspo",
    print: () => Effect.void,
    config: never,
    run: never,
    exported: never,
    seconds: never,
    test: never,
    answer: never,
    read: (file: string) => Effect.sync(() => files.get(file) ?? null),
    write: (file: string, text: string) =>
      Effect.sync(() => {
        files.set(file, text)
        written.push(file)
      })
  }
}

const [world, other] = worlds
if (world === undefined || other === undefined) throw new Error("no worlds")
const budget = { ...Evolve.budget, seed: 3 }
const fileOf = (optimizer: Outcome.Optimizer, own: World) => `out/${Outcome.fileOf(optimizer, own, 3)}`
const kept = (code: string, own: World, outcome: Outcome.Outcome) =>
  Outcome.write(Outcome.keyOf(code, own, budget), outcome)
const keptOfGepa = (own: World, outcome: Outcome.Outcome) =>
  Outcome.write(Outcome.keyOfRival("gepa", own, budget), outcome)
/** All files of a finished study. */
const finished = (): Map<string, string> => {
  const cells = Power.budgets.flatMap((own) =>
    Power.gains.map((gain): Power.Cell => ({ budget: own, gain, searches: 2, seed: 3 }))
  )
  const claimed = Claims.cells.flatMap((cell) =>
    [3, 4].map((seed) => {
      const key = Outcome.keyOf("one", cell.world, { ...cell.budget, seed })
      const file = `out/${Claims.directoryOf(cell)}${Outcome.fileOf("inspo", cell.world, seed)}`
      return [
        file,
        Outcome.write(key, seed === 3 ? ours : { ...ours, verdict: "no-headroom", covered: false })
      ] as const
    })
  )
  return new Map([
    ...claimed,
    ...worlds.map((own) => [fileOf("inspo", own), kept("one", own, ours)] as const),
    ...cells.map((cell) => [`out/${Power.fileOf(cell)}`, Power.write(Power.keyOf("one", cell), 1)] as const)
  ])
}
const ours = {
  verdict: "better",
  prompt: "x",
  gain: 0.1,
  finalist: 0.1,
  covered: true,
  tried: 0.1,
  calls: 290,
  requests: 3,
  candidates: 12
} as const
const theirs = {
  verdict: null,
  prompt: "x",
  gain: -0.01,
  finalist: null,
  covered: null,
  tried: null,
  calls: 300,
  requests: 10,
  candidates: 10
}

describe("bench", () => {
  it.effect("reads the finished runs of the same code, and runs the others", () =>
    Effect.gen(function* () {
      const files = finished()
      files.set(fileOf("inspo", world), kept("other", world, ours))
      files.delete("out/cases/20-10.json")
      const written: Array<string> = []
      const first = yield* Evolve.bench(hostOf("one", files, written), input)
      assert.deepStrictEqual(written, [
        fileOf("inspo", world),
        "out/cases/20-10.json",
        "out/result.json",
        "out/result.md"
      ])
      assert.lengthOf(first.rows, worlds.length)
      for (const { available, calls, headroom, share, worse } of first.rows) {
        assert.strictEqual(available > 0.1, headroom)
        assert.strictEqual(share !== null, headroom)
        assert.strictEqual(worse.n, 1)
        assert.isAtMost(calls, Evolve.budget.calls)
      }
      for (const { covered, denied, noHeadroom } of first.claims)
        assert.deepStrictEqual([covered?.share, denied?.share, noHeadroom.share], [0.5, 0.5, 0.5])
      assert.deepStrictEqual(yield* Evolve.bench(hostOf("one", files), input), first)

      files.delete(fileOf("inspo", world))
      assert.deepStrictEqual(yield* Evolve.bench(hostOf("one", files), input), first)
    })
  )

  it.effect("shows the runs of other optimizers with the same agent and budget beside its own", () =>
    Effect.gen(function* () {
      const files = finished()
      files.set(fileOf("gepa", world), keptOfGepa(world, theirs))
      files.set(fileOf("gepa", other), keptOfGepa(world, theirs))
      const { rows, summary } = yield* Evolve.bench(hostOf("one", files), input)
      assert.deepStrictEqual(
        rows.flatMap(({ kind, optimizer, verdicts, worse }) =>
          optimizer === "gepa" ? [[kind, verdicts, worse.successes]] : []
        ),
        [[world.name, null, 1]]
      )
      assert.deepStrictEqual(
        summary.map(({ candidates, missed, optimizer, requests, worse }) => [
          optimizer,
          missed === null,
          worse.successes,
          worse.n,
          requests,
          candidates
        ]),
        [
          ["inspo", false, 0, worlds.length, 3, 12],
          ["gepa", true, 1, 1, 10, 10]
        ]
      )
      assert.match(files.get("out/result.md") ?? "", /\| gepa +\| +1 \| 100\.0 % \| \[2\.5, 100\.0\] +\| – /u)
    })
  )
})

describe("rivals", () => {
  it.each(Object.entries(rivals))("use a setting of their grid: %s", (_, { chosen, grid }) => {
    assert.deepInclude(grid, chosen)
  })

  it("are tuned on agents that no table reports", () => {
    for (const own of tuningWorlds) assert.notDeepInclude(worlds, { ...own, name: own.name.split(",")[0] ?? "" })
  })
})

describe("serve", () => {
  it("gives the trials of a program one after the other, and keeps what it returns", () => {
    const outcomes: Array<Outcome.Outcome> = []
    const keep = (outcome: Outcome.Outcome) => outcomes.push(outcome)
    const small = { calls: 2, cases: 6, seed: 1 }
    const ask = Protocol.serve(
      [world, other].map((own) => ({ world: own, settings: { cases: 2 }, budget: small, keep }))
    )
    const send = (request: object) => ask(JSON.stringify(request))
    const asked = (place: number) => send({ do: "ask", prompt: seedPrompt, case: place })

    assert.throws(() => asked(1), "without a trial")
    assert.throws(() => send({ do: "sing" }), "not a request")
    assert.deepStrictEqual(send({ do: "next" }), { prompt: seedPrompt, ...small, settings: { cases: 2 } })
    const best = bestOf(world)
    const request = bank.map((clause) => `A reader would say: ${clause}`).join("\n")
    assert.deepStrictEqual(send({ do: "propose", parent: best, request, count: 3 }), [
      ...Trial.open(world, small).propose(best, request, 3)
    ])
    for (const place of [1, 2]) assert.hasAllKeys(asked(place), ["score", "feedback"])
    assert.isNull(asked(3))
    assert.isTrue(send({ do: "return", prompt: best }))
    assert.deepStrictEqual(outcomes, [
      {
        verdict: null,
        prompt: best,
        gain: Trial.available(world),
        finalist: null,
        covered: null,
        tried: null,
        calls: 2,
        requests: 1,
        candidates: 3
      }
    ])
    assert.throws(() => asked(1), "without a trial")
    send({ do: "next" })
    assert.isNotNull(asked(1))
    assert.isTrue(send({ do: "return", prompt: seedPrompt }))
    assert.strictEqual(outcomes[1]?.gain, 0)
    assert.isNull(send({ do: "next" }))
  })
})
