/** Laws between the log of a trainer's own reward function and the state of the server. */
import { readFile } from "node:fs/promises"
import { Schema } from "effect"
import { assert } from "vitest"
import { best } from "./World.ts"

/** A line of the log: a reward as the trainer saw it. */
const Row = Schema.Struct({
  rank: Schema.Int,
  attempt: Schema.String,
  cohort: Schema.Int,
  key: Schema.String,
  lease: Schema.String,
  sample: Schema.Int,
  instruction: Schema.String,
  value: Schema.Finite
})
export interface Row extends Schema.Schema.Type<typeof Row> {}

/** A start of the trainer, and the cohort that it began with. */
export interface Attempt {
  readonly name: string
  readonly first: number
}

export interface Expected {
  readonly url: string
  readonly population?: string
  /** In order; each but the first resumed from a checkpoint. */
  readonly attempts: readonly [Attempt, ...ReadonlyArray<Attempt>]
  readonly cohorts: number
  readonly groups: number
  readonly n: number
  readonly firstCohort?: number
  /** Of an asynchronous trainer, which has groups of later cohorts in progress when it ends. */
  readonly ahead?: Ahead
}

/** Bounds of the number of cohorts that have leases when an earlier one is closed. */
export interface Ahead {
  readonly least: number
  readonly most: number
}

const Closed = Schema.Struct({
  cohort: Schema.String,
  units: Schema.Array(Schema.Struct({ instruction: Schema.String, rewards: Schema.Array(Schema.Finite) }))
})
const decodeClosed = Schema.decodeUnknownSync(Closed)
const decodeTo = Schema.decodeUnknownSync(Schema.Struct({ to: Schema.String }))
const decodeOpened = Schema.decodeUnknownSync(Schema.Struct({ cohort: Schema.String, phase: Schema.String }))
const decodePruned = Schema.decodeUnknownSync(Schema.Struct({ pruned: Schema.Array(Schema.Json) }))
const decodeEvents = Schema.decodeUnknownSync(
  Schema.Struct({ events: Schema.Array(Schema.Struct({ type: Schema.String, data: Schema.Json })), last: Schema.Int })
)
const decodePopulation = Schema.decodeUnknownSync(
  Schema.Struct({
    members: Schema.Array(
      Schema.Struct({
        id: Schema.String,
        wording: Schema.String,
        standing: Schema.String,
        estimate: Schema.Struct({ mean: Schema.NullOr(Schema.Finite), samples: Schema.Int, missing: Schema.Finite })
      })
    ),
    branch: Schema.Int,
    leases: Schema.Struct({ given: Schema.Int, open: Schema.Int, overdue: Schema.Int, lost: Schema.Int })
  })
)
const decodeIncumbent = Schema.decodeUnknownSync(
  Schema.Struct({ instruction: Schema.Struct({ text: Schema.String }), reason: Schema.String })
)

const decodeRow = Schema.decodeUnknownSync(Schema.fromJsonString(Row))

export const readLog = async (...files: ReadonlyArray<string>): Promise<ReadonlyArray<Row>> => {
  const texts = await Promise.all(files.map((file) => readFile(file, "utf8")))
  return texts.flatMap((text) =>
    text
      .split("\n")
      .filter((line) => line.endsWith("}"))
      .map((line) => decodeRow(line))
  )
}

/** Checks that a population issued leases, and that each is rewarded and folded. */
export const checkLeased = async (url: string, population: string): Promise<void> => {
  const { leases } = decodePopulation(await read(url, "", population))
  assert.isAbove(leases.given, 0)
  assert.deepStrictEqual([leases.open, leases.lost], [0, 0])
}

/** The rewards that a population learned of, group by group. */
export const foldedRewards = async (url: string, population: string): Promise<ReadonlyArray<ReadonlyArray<number>>> => {
  const closed = (await eventsOf(url, population)).filter(({ type }) => type === "Closed")
  return closed.flatMap(({ data }) => decodeClosed(data).units.map(({ rewards }) => rewards))
}

/** Checks all laws, once the trainer has ended. */
export const check = async (rows: ReadonlyArray<Row>, expected: Expected): Promise<void> => {
  const living = rows.filter((row) => isLiving(row, expected.attempts))
  const events = await eventsOf(expected.url, expected.population)
  const population = decodePopulation(await read(expected.url, "", expected.population))
  const trained = living.filter(({ cohort }) => cohort < expected.cohorts)
  if (expected.ahead === undefined) assert.lengthOf(trained, living.length)
  checkGroups(trained, expected)
  checkReplays(rows, living)
  checkFolds(trained, events, expected)
  checkFreshness(events, expected.ahead ?? { least: 0, most: 1 })
  assert.strictEqual(population.branch, expected.attempts.length - 1, "one rewind for each attempt after the first")
  assert.strictEqual(population.leases.lost, 0)
  for (const { estimate, wording } of population.members.filter(({ standing }) => standing === "member")) {
    assert.strictEqual(estimate.missing, 0, wording)
    // Which samples of later cohorts were reported is known to the server alone.
    if (expected.ahead !== undefined) continue
    const own = living.filter(({ instruction }) => instruction === wording)
    assert.strictEqual(estimate.samples, own.length, wording)
    if (own.length > 0) assert.closeTo(estimate.mean ?? NaN, mean(own), 1e-9, wording)
  }
  const incumbent = decodeIncumbent(await read(expected.url, "/incumbent", expected.population))
  assert.deepStrictEqual([incumbent.instruction.text, incumbent.reason], [best, "evidence"])
  const pruned = events.filter(({ data, type }) => type === "Pruned" && decodePruned(data).pruned.length > 0)
  assert.isNotEmpty(pruned, "somebody was pruned")
  assert.include(
    events.map(({ type }) => type),
    "PopulationRefilled"
  )
}

const read = async (url: string, path: string, population = "policy"): Promise<unknown> => {
  const response = await fetch(`${url}/v1/populations/${population}${path}`)
  assert.isTrue(response.ok, path)
  return response.json()
}

type Event = ReturnType<typeof decodeEvents>["events"][number]

const eventsOf = async (url: string, population = "policy"): Promise<ReadonlyArray<Event>> => {
  const all: Array<Event> = []
  for (let after = -1; ;) {
    const { events, last } = decodeEvents(await read(url, `/events?after=${after}`, population))
    if (events.length === 0) return all
    all.push(...events)
    after = last
  }
}

/** Whether a cohort of an attempt counts: no later attempt repeated it. */
const isLiving = (row: Row, attempts: ReadonlyArray<Attempt>): boolean => {
  const own = attempts.findIndex(({ name }) => name === row.attempt)
  return own >= 0 && attempts.slice(own + 1).every(({ first }) => row.cohort < first)
}

/** All n samples of a group have one instruction, and each occurs once, from any rank. */
const checkGroups = (living: ReadonlyArray<Row>, { cohorts, firstCohort = 0, groups, n }: Expected): void => {
  const found = Map.groupBy(living, ({ cohort, key }) => `${cohort}/${key}`)
  assert.strictEqual(found.size, (cohorts - firstCohort) * groups)
  for (const [name, group] of found) {
    assert.strictEqual(new Set(group.map(({ instruction }) => instruction)).size, 1, name)
    assert.strictEqual(new Set(group.map(({ lease }) => lease)).size, 1, name)
    assert.deepStrictEqual(
      group.map(({ sample }) => sample).toSorted((a, b) => a - b),
      Array.from({ length: n }, (_, sample) => sample),
      name
    )
  }
  for (const group of Map.groupBy(living, ({ cohort }) => cohort).values())
    assert.strictEqual(new Set(group.map(({ key }) => key)).size, groups)
}

/** A lease that was used before a resume is not issued again. */
const checkReplays = (rows: ReadonlyArray<Row>, living: ReadonlyArray<Row>): void => {
  const before = new Set(rows.filter((row) => !living.includes(row)).map(({ lease }) => lease))
  assert.isEmpty(living.filter(({ lease }) => before.has(lease)))
}

/** The folded rewards of each cohort equal those that the trainer saw. */
const checkFolds = (living: ReadonlyArray<Row>, events: ReadonlyArray<Event>, expected: Expected): void => {
  const { cohorts, firstCohort = 0 } = expected
  let closed: Array<typeof Closed.Type> = []
  for (const { data, type } of events) {
    if (type === "Closed") closed.push(decodeClosed(data))
    if (type === "Rewound") {
      const { to } = decodeTo(data)
      closed = closed.slice(0, closed.findIndex(({ cohort }) => cohort === to) + 1)
    }
  }
  // A cohort that was read ahead and not trained on has no units.
  closed = closed.filter(({ units }) => units.length > 0)
  if (expected.ahead !== undefined) closed = closed.slice(0, cohorts - firstCohort)
  const names = closed.map(({ cohort }) => cohort)
  assert.deepStrictEqual(
    names,
    Array.from({ length: cohorts - firstCohort }, (_, place) => `train/${firstCohort + place}`)
  )
  for (const { cohort, units } of closed) {
    const own = living.filter((row) => `train/${row.cohort}` === cohort)
    const seen = [...Map.groupBy(own, ({ key }) => key).values()].map((group) => group.map(({ value }) => value))
    const sorted = (groups: ReadonlyArray<ReadonlyArray<number>>) =>
      groups.map((group) => group.toSorted((a, b) => a - b).join(" ")).toSorted()
    assert.deepStrictEqual(sorted(units.map(({ rewards }) => rewards)), sorted(seen), cohort)
  }
}

/** When a cohort is closed, so many later ones have leases. */
const checkFreshness = (events: ReadonlyArray<Event>, { least, most }: Ahead): void => {
  let newest = -1
  const ahead: Array<number> = []
  const numberOf = (name: string) => Number(name.split("/").at(-1))
  for (const { data, type } of events) {
    if (type === "Rewound") newest = numberOf(decodeTo(data).to)
    if (type === "CohortOpened") {
      const { cohort, phase } = decodeOpened(data)
      if (phase === "train") newest = Math.max(newest, numberOf(cohort))
    }
    if (type === "Closed") ahead.push(newest - numberOf(decodeClosed(data).cohort))
  }
  assert.isAtMost(Math.max(...ahead), most, "leases ahead of a cohort")
  assert.isAtLeast(Math.max(...ahead), least, "leases ahead of a cohort")
}

const mean = (rows: ReadonlyArray<Row>): number => rows.reduce((sum, { value }) => sum + value, 0) / rows.length
