import { Invariant, RandomStream } from "@inspo/domain"
import { evolve } from "@inspo/evolve"
import { Markdown } from "@inspo/report"
import { Exact } from "@inspo/statistics"
import { Effect } from "effect"
import * as Scripted from "./evolve/ScriptedProposer.ts"
import * as World from "./evolve/World.ts"
import { interval, points } from "./Format.ts"
import type { Host } from "./Host.ts"
import { assertSimulations, save, simulateAll, type SimulationInput } from "./Simulations.ts"

/** The searches of one kind of prompt. */
interface Row {
  readonly kind: string
  readonly gain: Exact.Estimate
  readonly better: Exact.Proportion
}

/** What searches find where some of three texts of a prompt matter. */
export const bench = Effect.fn("EvolveParts.bench")(function* <E, R>(host: Host<E, R>, input: SimulationInput) {
  yield* assertSimulations(input)
  const rows: Array<Row> = []
  for (const kind of kinds) {
    yield* host.print([kind.name])
    const found = yield* simulateAll(input.simulations, input.seed, (seed) => search(kind, seed))
    rows.push({
      kind: kind.name,
      gain: Invariant.present(Exact.estimate(found.map(({ gain }) => gain)), "gain"),
      better: Exact.proportion(found.filter(({ isBetter }) => isBetter).length, found.length)
    })
  }
  const result = { bench: "evolve-parts", seed: input.seed, simulations: input.simulations, rows }
  yield* save(host, input.out, result, markdown(rows, input.simulations))
  return result
})

const names = ["system", "tool", "tracker"] as const
const texts = {
  system: "Sort the support ticket.",
  tool: "Use the tool for more.",
  tracker: "The tracker finds tickets."
}

/** The texts in which the four clauses that help count; in the others they change nothing. */
interface Kind {
  readonly name: string
  readonly places: ReadonlyArray<0 | 1 | 2>
}

export const kinds: ReadonlyArray<Kind> = [
  { name: "one of three", places: [0, 0, 0, 0] },
  { name: "two of three", places: [0, 0, 1, 1] },
  { name: "all three", places: [0, 1, 2, 2] }
]

const calls = 300
const cases = Array.from({ length: 100 }, (_, id) => ({ id }))

export const search = async ({ places }: Kind, randomSeed: number) => {
  const agent = World.open(world, calls, randomSeed)
  const stream = RandomStream.make(randomSeed, ["parts"])
  /** The prompt of one text that is worth as much. */
  const counting = (prompt: typeof texts): string =>
    [
      World.seedPrompt,
      ...World.bank.filter((clause, place) =>
        names.some((name, at) => prompt[name].includes(clause) && (places[place] ?? at) === at)
      )
    ].join(" ")
  const { prompt, verdict } = await evolve({
    prompt: texts,
    cases,
    agent: (prompt, { id }) => agent.answer(counting(prompt), id),
    score: ({ isRight, prompt }) => {
      const known = World.clausesOf(prompt)
      const missing = places.flatMap((_, place) => (known.includes(place) ? [] : [place]))
      const clause = World.bank[missing[Math.floor(stream.next() * missing.length)] ?? 0]
      return isRight ? 1 : { score: 0, feedback: `The label is wrong. A reader would say: ${clause}` }
    },
    proposer: (request) => revisions(request, stream),
    budget: { calls },
    randomSeed,
    concurrency: 1
  })
  const gain = World.valueOf(world, counting(prompt)) - World.valueOf(world, World.seedPrompt)
  return { gain, isBetter: verdict === "better" }
}

const world = Invariant.present(
  World.worlds.find(({ headroom, name }) => headroom && name === "additive clauses"),
  "world"
)

/** Revisions of the text that a request shows: hinted clauses are added by chance, or one is added or taken away. */
const revisions = (request: string, stream: RandomStream.RandomStream): string => {
  const first = texts[names.find((name) => request.includes(texts[name])) ?? "system"]
  const own = World.clausesOf(new RegExp(`${first}[^\\n<]*`, "u").exec(request)?.[0] ?? "")
  const hinted = Scripted.hinted(request, own)
  const revised = Array.from({ length: Scripted.countIn(request) }, () => {
    const added = hinted.filter(() => stream.next() < 0.5)
    const clauses = new Set([...own, ...added])
    const place = stream.nextIntBetween(0, World.bank.length - 1)
    if ((added.length === 0 || stream.next() < 0.5) && !clauses.delete(place)) clauses.add(place)
    return [first, ...World.bank.filter((_, one) => clauses.has(one))].join(" ")
  })
  return Scripted.answer(revised)
}

const markdown = (rows: ReadonlyArray<Row>, simulations: number): string =>
  [
    "# A prompt of three texts",
    "",
    `${simulations} searches each with ${calls} calls and ${cases.length} cases.`,
    "",
    ...Markdown.table([
      ["texts that matter", "true gain, points", "95 % interval", "shown to be better, %", "95 % interval"],
      ...rows.map(({ better, gain, kind }) => [
        kind,
        points(gain.mean),
        interval(gain),
        points(better.share),
        interval(better)
      ])
    ]),
    ""
  ].join("\n")
