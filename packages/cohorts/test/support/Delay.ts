/** Populations in a world whose truth is known, whose rewards come late, twice, out of order, or never. */
import { Settings, Strategies } from "@inspo/cohorts"
import { Instruction, RandomStream } from "@inspo/domain"
import { Population } from "@inspo/population"
import { EvidencePruning } from "@inspo/successive-halving"
import { Server } from "./Server.ts"
import { changed } from "./Changed.ts"

/** When a reward comes, in cohorts from now, null for never; whether it is sent again; whether it fails. */
export interface Fate {
  readonly after: number | null
  readonly isRepeated: boolean
  readonly isFailed: boolean
}

/** How rewards come to a server. `isOdd` sets half of the instructions apart, `isGood` the outcomes. */
export type Weather = (draw: () => number, isOdd: boolean, isGood: boolean) => Fate

const prompt: Fate = { after: 0, isRepeated: false, isFailed: false }

/** Each with the instructions of odd number worst off. */
export const weathers = {
  "no delay": () => prompt,
  "bad rewards 20 cohorts late": (_, isOdd, isGood) => ({ ...prompt, after: isOdd && !isGood ? 20 : 0 }),
  "60 % of bad rewards never come": (draw, isOdd, isGood) => ({
    ...prompt,
    after: isOdd && !isGood && draw() < 0.6 ? null : 0
  }),
  "out of order and twice": (draw) => ({ ...prompt, after: Math.floor(4 * draw()), isRepeated: draw() < 0.3 }),
  "bad ones fail": (draw, isOdd, isGood) => ({ ...prompt, isFailed: isOdd && !isGood && draw() < 0.6 }),
  "all of it": (draw, isOdd, isGood) => ({
    after: isOdd && !isGood && draw() < 0.3 ? null : Math.floor((isOdd && !isGood ? 20 : 4) * draw()),
    isRepeated: draw() < 0.3,
    isFailed: isOdd && !isGood && draw() < 0.2
  })
} satisfies Readonly<Record<string, Weather>>

export interface Life {
  /** Members ever pruned or replaced as worse. */
  readonly worse: number
  /** Whether anybody but the seed ever was the incumbent. */
  readonly claimed: boolean
  readonly evolutions: number
  readonly cohorts: number
  readonly leases: number
}

export interface LifeOptions {
  readonly seed: number
  readonly weather: Weather
  readonly evolutions: number
  /** Cohorts between two of them. */
  readonly evolveEvery: number
  readonly mean: number
  readonly batch: number
}

/** A population of equal instructions until so many evolutions are over. */
export const live = ({ batch, evolutions, evolveEvery, mean, seed, weather }: LifeOptions): Life => {
  const settings = changed(Settings.online(seed), {
    size: 4,
    sealAfterLeases: batch,
    sealAfterSeconds: null,
    horizonSeconds: 0.003,
    newcomerShare: 0.8,
    pruneEvery: 1,
    evolveEvery,
    approval: "automatic"
  })
  const server = new Server(settings, ["seed", "i1"], undefined, false)
  const draw = stream(seed)
  let due = new Map<number, Array<{ readonly lease: string; readonly value: number | null }>>()
  let [worse, over, leases, claimed] = [0, 0, 0, false]
  const watch = (events: ReturnType<Server["do"]>["events"]) => {
    for (const event of events) {
      if (event._tag === "PopulationRefilled") over++
      const leaving = event._tag === "Pruned" ? event.pruned : event._tag === "PopulationRefilled" ? event.replaced : []
      worse += leaving.filter(({ reason }) => reason === "worse").length
      if (event._tag === "Concluded" && event.incumbent.id !== server.state.learning.seed) claimed = true
    }
  }
  let now = 0
  const isOver = () => over >= evolutions
  for (; !isOver(); now++) {
    const requests = Array.from({ length: batch }, (_, place) => ({
      key: `${now} ${place}`,
      n: 1,
      stratum: "all",
      sticky: null,
      question: null,
      instructions: 1
    }))
    const leased = server.do({ _tag: "Lease", now, cohort: null, phase: "train", isFullBatch: false, requests })
    watch(leased.events)
    if (leased.answer._tag !== "Leases") break
    leases += batch
    for (const { instruction, lease } of leased.answer.leases) {
      const isGood = draw() < mean
      const { after, isFailed, isRepeated } = weather(draw, isOdd(instruction), isGood)
      if (after === null) continue
      post(due, now + after, { lease, value: isFailed ? null : isGood ? 1 : 0 })
      if (isRepeated) post(due, now + after + 1, { lease, value: isGood ? 0 : 1 })
    }
    watch(
      server.do({ _tag: "Reward", now, rewards: (due.get(now) ?? []).map((one) => ({ ...one, sample: null })) }).events
    )
    due.delete(now)
    const { evolution } = server.state.learning
    if (evolution?.stage._tag !== "Proposing") continue
    const [parent] = evolution.parents
    const candidates = [1, 2].map((place) => ({ text: `${now}.${place}`, rationale: "" }))
    if (parent !== undefined) watch(server.do({ _tag: "Propose", now, parent, candidates, reflected: [] }).events)
  }
  return { worse, claimed, evolutions: over, cohorts: now, leases }
}

/** Two equal instructions whose rewards are folded as they arrive: whether one is ever pruned as worse. */
export const naive = ({
  batch,
  mean,
  seed,
  steps,
  weather
}: Omit<LifeOptions, "evolutions" | "evolveEvery"> & { readonly steps: number }): boolean => {
  const ids = ["i0", "i1"].map((id) => Instruction.InstructionId.make(id))
  const { observe } = Strategies.ofSettings(Settings.online(seed)).valuation
  const halving = EvidencePruning.removal({ delta: 0.05, parents: 1 })
  let population = Population.begin(
    ids.map((id) => ({ id, text: id, generation: 0, parent: null, origin: "variant", bornAt: 0 }))
  )
  const draw = stream(seed)
  const due = new Map<number, Array<Population.Observed>>()
  for (let step = 1; step <= steps; step++) {
    for (let unit = 0; unit < batch; unit++)
      for (const id of ids.slice(unit % 2, (unit % 2) + 1)) {
        const isGood = draw() < mean
        const { after, isFailed } = weather(draw, isOdd(id), isGood)
        if (after !== null && !isFailed) post(due, step + after, { instructionId: id, rewards: [isGood ? 1 : 0] })
      }
    population = observe(population, step, due.get(step) ?? [])
    if (halving.prune(population, Population.compare.values(population)).pruned.length > 0) return true
  }
  return false
}

/** Cohorts until the worse of two is pruned, null where it is not within `cohorts`; and whether missing rewards forbid it. */
export const contest = ({
  batch,
  cohorts,
  means,
  response,
  seed,
  missingRewards
}: {
  readonly seed: number
  readonly means: readonly [number, number]
  /** The share of samples that are reported, of all or of each instruction. */
  readonly response: number | Readonly<Record<string, number>>
  readonly missingRewards: Population.MissingRewards
  readonly batch: number
  readonly cohorts: number
}): { readonly decidedAt: number | null; readonly server: Server } => {
  const settings = changed(Settings.online(seed), {
    missingRewards,
    sealAfterLeases: batch,
    sealAfterSeconds: null,
    horizonSeconds: 0.0004,
    pruneEvery: 1,
    evolveEvery: 0
  })
  const server = new Server(settings, ["seed", "i1"], undefined, false)
  const draw = stream(seed)
  for (let now = 1; now <= cohorts; now++) {
    const rewards = server
      .lease(
        now,
        Array.from({ length: batch }, (_, place) => `${now} ${place}`)
      )
      .flatMap(({ instruction, lease }) => {
        const value = draw() < means[instruction === "i0" ? 1 : 0] ? 1 : 0
        const share = typeof response === "number" ? response : (response[instruction] ?? 0)
        return draw() < share ? [{ lease, value }] : []
      })
    server.reward(now, rewards)
    server.do({ _tag: "Tick", now: now + 0.5 })
    if (server.state.learning.incumbent.id !== "i0") return { decidedAt: now, server }
  }
  return { decidedAt: null, server }
}

const isOdd = (id: string): boolean => Number(id.slice(1)) % 2 === 1

const post = <A>(due: Map<number, Array<A>>, at: number, one: A): void => {
  const known = due.get(at)
  if (known === undefined) due.set(at, [one])
  else known.push(one)
}

const stream = (seed: number): (() => number) => RandomStream.make(seed, ["world"]).next
