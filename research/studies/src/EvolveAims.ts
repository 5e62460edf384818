import { RandomStream } from "@inspo/domain"
import { evolve, type EvolveOptions, type EvolveResult, type Prompt } from "@inspo/evolve"
import { Markdown } from "@inspo/report"
import { Exact } from "@inspo/statistics"
import { Effect } from "effect"
import * as World from "./evolve/World.ts"
import { percent } from "./Format.ts"
import type { Host } from "./Host.ts"
import { assertSimulations, save, simulateAll, type SimulationInput } from "./Simulations.ts"

/** What searches claim of one aim: where it can be reached, and where it cannot. */
export interface Row {
  readonly aim: string
  readonly headroom: boolean
  readonly claimed: Exact.Proportion
  readonly wrong: Exact.Proportion
}

/** Counts what `evolve()` claims besides a better text: an aim, a new model, protected cases, demonstrations. */
export const bench = Effect.fn("EvolveAims.bench")(function* <E, R>(host: Host<E, R>, input: SimulationInput) {
  yield* assertSimulations(input)
  const rows: Array<Row> = []
  for (const aim of aims)
    for (const headroom of [true, false]) {
      yield* host.print([`${aim.name}, ${headroom ? "can be reached" : "cannot be reached"}`])
      const found = yield* simulateAll(input.simulations, input.seed, (seed) => aim.search(headroom, seed))
      const share = (count: number) => Exact.proportion(count, found.length)
      rows.push({
        aim: aim.name,
        headroom,
        claimed: share(found.filter(({ isClaimed }) => isClaimed).length),
        wrong: share(found.filter(({ isClaimed, isTrue }) => isClaimed && !isTrue).length)
      })
    }
  const result = { bench: "evolve-aims", seed: input.seed, simulations: input.simulations, rows }
  yield* save(host, input.out, result, markdown(rows, input.simulations))
  return result
})

interface Found {
  readonly isClaimed: boolean
  readonly isTrue: boolean
}

const calls = 1000
const margin = 0.1
const cases = Array.from({ length: 300 }, (_, id) => ({ id }))
const plain = { name: "", headroom: true, pair: 0, difficulty: 1.2, interaction: 0.3, flip: 0, drift: 0 }

/** A world in which clauses, by their places in the bank, have these effects, and all others none. */
const worldOf = (base: number, effects: Readonly<Record<number, number>>): World.World => ({
  ...plain,
  base,
  effects: World.bank.map((_, place) => effects[place] ?? 0)
})

const promptOf = (places: ReadonlyArray<number>): string =>
  [World.seedPrompt, ...places.map((place) => World.bank[place])].join(" ")

const neutral = [4, 5, 6, 7]
const sentencesOf = (places: ReadonlyArray<number>) => places.flatMap((place) => World.bank[place] ?? [])

const score = ({ isRight }: { readonly isRight: boolean }): number => Number(isRight)

/** A prompt of clauses that can go, or each of which is worth some fifteen points; the proposer drops some. */
const shorter = async (headroom: boolean, seed: number): Promise<Found> => {
  const places = [4, 5, 6, 7, 8, 9, 10, 11]
  const world = worldOf(headroom ? 0.5 : -5.9, Object.fromEntries(places.map((place) => [place, headroom ? 0 : 0.8])))
  const agent = World.open(world, calls, seed)
  const stream = RandomStream.make(seed, ["drop"])
  const original = promptOf(places)
  const { prompt, verdict } = await search(seed, {
    prompt: original,
    cases,
    agent: (prompt, { id }) => agent.answer(prompt, id),
    aim: "shorter",
    proposer: (request) => {
      const parent = places.filter((place) => request.includes(World.bank[place] ?? ""))
      const kept = new Set(stream.shuffle(parent).slice(stream.nextIntBetween(1, 2)))
      return `<ins_1>${promptOf(parent.filter((place) => kept.has(place)))}</ins_1>`
    }
  })
  const loss = World.valueOf(world, original) - World.valueOf(world, prompt)
  return { isClaimed: verdict === "shorter", isTrue: loss < margin && prompt.length <= 0.9 * original.length }
}

/** A clause halves the price of a call, and costs nothing, or some twenty points. */
const cheaper = async (headroom: boolean, seed: number): Promise<Found> => {
  const world = worldOf(0.5, { 0: headroom ? 0 : -1 })
  const agent = World.open(world, calls, seed)
  const { prompt, verdict } = await search(seed, {
    prompt: World.seedPrompt,
    cases,
    agent: (prompt, { id }, { spend }) => {
      spend(World.clausesOf(prompt).includes(0) ? 0.5 : 1)
      return agent.answer(prompt, id)
    },
    aim: "cheaper",
    proposer: sentencesOf([0, ...neutral])
  })
  const loss = World.valueOf(world, World.seedPrompt) - World.valueOf(world, prompt)
  return { isClaimed: verdict === "cheaper", isTrue: loss < margin && World.clausesOf(prompt).includes(0) }
}

/** The new model is worse by some twenty points; a clause makes it as good as the old one, or nothing does. */
const migrated = async (headroom: boolean, seed: number): Promise<Found> => {
  const [before, after] = [worldOf(0.8, {}), worldOf(-0.4, { 0: headroom ? 1.4 : 0 })]
  const [old, agent] = [World.open(before, calls, seed), World.open(after, calls, seed)]
  const { prompt, verdict } = await search(seed, {
    prompt: World.seedPrompt,
    cases,
    agent: (prompt, { id }) => agent.answer(prompt, id),
    control: { agent: ({ id }) => old.answer(World.seedPrompt, id) },
    proposer: sentencesOf([0, ...neutral])
  })
  const loss = World.valueOf(before, World.seedPrompt) - World.valueOf(after, prompt)
  return { isClaimed: verdict === "no-worse", isTrue: loss < margin }
}

/** The clause that helps fails four protected cases, unless the aim can be reached. */
const guarded = async (headroom: boolean, seed: number): Promise<Found> => {
  const world = worldOf(-0.6, { 0: 1.4 })
  const agent = World.open(world, calls, seed)
  const { prompt, verdict } = await search(seed, {
    prompt: World.seedPrompt,
    cases: cases.map(({ id }) => (id < 4 ? { id, protected: true } : { id })),
    agent: (prompt, { id }) => {
      const answer = agent.answer(prompt, id)
      return id < 4 ? { ...answer, isRight: headroom || !World.clausesOf(prompt).includes(0) } : answer
    },
    proposer: sentencesOf([0, ...neutral])
  })
  const helps = World.clausesOf(prompt).includes(0)
  return { isClaimed: verdict === "better" && helps, isTrue: headroom }
}

const kinds = ["red", "green", "blue"]

/** An agent that learns from demonstrations of the kind of a case, or from none. */
const demonstrated = async (headroom: boolean, seed: number): Promise<Found> => {
  const [plainly, shown] = [worldOf(-0.4, {}), worldOf(1, {})]
  const [without, withIt] = [World.open(plainly, calls, seed), World.open(shown, calls, seed)]
  const heading = "Examples:"
  const { prompt, verdict } = await search(seed, {
    prompt: { system: World.seedPrompt, examples: heading },
    cases: cases.map(({ id }) => ({ id, input: `item ${id}, ${kinds[id % 3]}`, expected: `code ${id % 3}` })),
    agent: ({ examples }, { expected, id }) =>
      (headroom && examples.includes(`Output: ${expected}`) ? withIt : without).answer(examples, id),
    proposer: sentencesOf(neutral)
  })
  return { isClaimed: verdict === "better" && prompt.examples !== heading, isTrue: headroom }
}

export const aims: ReadonlyArray<{
  readonly name: string
  readonly search: (headroom: boolean, seed: number) => Promise<Found>
}> = [
  { name: "a shorter prompt", search: shorter },
  { name: "a cheaper prompt", search: cheaper },
  { name: "a prompt for a new model", search: migrated },
  { name: "protected cases", search: guarded },
  { name: "demonstrations", search: demonstrated }
]

/** A search with the budget of all. */
const search = <P extends Prompt, Case>(
  randomSeed: number,
  options: Omit<EvolveOptions<P, Case, World.Answer>, "budget" | "score">
): Promise<EvolveResult<P, Case>> =>
  evolve({
    ...options,
    ...((options.aim ?? options.control) === undefined ? {} : { margin }),
    score,
    budget: { calls },
    randomSeed,
    concurrency: 1
  })

const markdown = (rows: ReadonlyArray<Row>, simulations: number): string =>
  [
    "# What `evolve()` claims besides a better text",
    "",
    `${simulations} searches each with ${calls} calls and ${cases.length} cases; margin ${margin}. Where the aim cannot be reached, each claim is wrong.`,
    "",
    ...Markdown.table([
      ["aim", "can be reached", "claimed", "95 % interval", "wrong claims", "95 % interval"],
      ...rows.map(({ aim, claimed, headroom, wrong }) => [
        aim,
        headroom ? "yes" : "no",
        ...[claimed, wrong].flatMap(({ ci95: [low, high], share }) => [
          percent(share),
          `[${percent(low)}, ${percent(high)}]`
        ])
      ])
    ]),
    ""
  ].join("\n")
