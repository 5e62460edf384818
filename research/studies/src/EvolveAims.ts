import { RandomStream } from "@inspo/domain"
import { evolve, type EvolveOptions, type Prompt } from "@inspo/evolve"
import { Exact } from "@inspo/statistics"
import * as World from "./evolve/World.ts"
import { percent, table } from "./Format.ts"
import type { Host } from "./Host.ts"
import { simulated, type SimulationInput } from "./Simulations.ts"

/** What searches claim of one aim: where it can be reached, and where it cannot. */
export interface Row {
  readonly aim: string
  readonly headroom: boolean
  readonly claimed: Exact.Proportion
  readonly wrong: Exact.Proportion
}

/** Counts what `evolve()` claims besides a better text: an aim, a new model, protected cases, demonstrations. */
export const bench = <E, R>(host: Host<E, R>, input: SimulationInput) =>
  simulated(
    host,
    input,
    "evolve-aims",
    aims.flatMap(({ name, search }) =>
      [true, false].map((headroom) => ({
        label: `${name}, ${headroom ? "can be reached" : "cannot be reached"}`,
        simulate: (seed: number) => search(headroom, seed),
        row: (found: ReadonlyArray<Found>): Row => {
          const share = (holds: (one: Found) => boolean) => Exact.proportion(found.filter(holds).length, found.length)
          return {
            aim: name,
            headroom,
            claimed: share(({ isClaimed }) => isClaimed),
            wrong: share(({ isClaimed, isTrue }) => isClaimed && !isTrue)
          }
        }
      }))
    ),
    markdown
  )

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

const neutral = World.bank.slice(4, 8)
/** The clause that matters, and four that change nothing. */
const sentences = [...World.bank.slice(0, 1), ...neutral]
const hasFirst = (prompt: string): boolean => World.clausesOf(prompt).includes(0)

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
      spend(hasFirst(prompt) ? 0.5 : 1)
      return agent.answer(prompt, id)
    },
    aim: "cheaper",
    proposer: sentences
  })
  const loss = World.valueOf(world, World.seedPrompt) - World.valueOf(world, prompt)
  return { isClaimed: verdict === "cheaper", isTrue: loss < margin && hasFirst(prompt) }
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
    proposer: sentences
  })
  const loss = World.valueOf(before, World.seedPrompt) - World.valueOf(after, prompt)
  return { isClaimed: verdict === "no-worse", isTrue: loss < margin }
}

/** The clause that helps fails four protected cases, unless the aim can be reached. */
const guarded = async (headroom: boolean, seed: number): Promise<Found> => {
  const agent = World.open(worldOf(-0.6, { 0: 1.4 }), calls, seed)
  const { prompt, verdict } = await search(seed, {
    prompt: World.seedPrompt,
    cases: cases.map(({ id }) => (id < 4 ? { id, protected: true } : { id })),
    agent: (prompt, { id }) => {
      const answer = agent.answer(prompt, id)
      return id < 4 ? { ...answer, isRight: headroom || !hasFirst(prompt) } : answer
    },
    proposer: sentences
  })
  return { isClaimed: verdict === "better" && hasFirst(prompt), isTrue: headroom }
}

const kinds = ["red", "green", "blue"]

/** An agent that learns from demonstrations of the kind of a case, or from none. */
const demonstrated = async (headroom: boolean, seed: number): Promise<Found> => {
  const [without, withIt] = [World.open(worldOf(-0.4, {}), calls, seed), World.open(worldOf(1, {}), calls, seed)]
  const heading = "Examples:"
  const { prompt, verdict } = await search(seed, {
    prompt: { system: World.seedPrompt, examples: heading },
    cases: cases.map(({ id }) => ({ id, input: `item ${id}, ${kinds[id % 3]}`, expected: `code ${id % 3}` })),
    agent: ({ examples }, { expected, id }) =>
      (headroom && examples.includes(`Output: ${expected}`) ? withIt : without).answer(examples, id),
    proposer: neutral
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
) =>
  evolve({
    ...options,
    ...((options.aim ?? options.control) === undefined ? {} : { margin }),
    score: ({ isRight }) => (isRight ? 1 : 0),
    budget: { calls },
    randomSeed,
    concurrency: 1
  })

const inPercent = ({ ci95 }: Exact.Proportion): string => `[${ci95.map(percent).join(", ")}]`

const markdown = (rows: ReadonlyArray<Row>, simulations: number): string =>
  [
    "# What `evolve()` claims besides a better text",
    "",
    `${simulations} searches each with ${calls} calls and ${cases.length} cases; margin ${margin}. Where the aim cannot be reached, each claim is wrong.`,
    "",
    ...table(rows, [
      ["aim", ({ aim }) => aim],
      ["can be reached", ({ headroom }) => (headroom ? "yes" : "no")],
      ["claimed", ({ claimed }) => percent(claimed.share)],
      ["95 % interval", ({ claimed }) => inPercent(claimed)],
      ["wrong claims", ({ wrong }) => percent(wrong.share)],
      ["95 % interval", ({ wrong }) => inPercent(wrong)]
    ]),
    ""
  ].join("\n")
