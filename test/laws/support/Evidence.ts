/**
 * How the instructions compare, computed the slow way from every pair of rewards that were ever compared: differences within
 * a block are differences of two instructions, each with a weight.
 */
import { holds } from "./Check.ts"

/** Mean reward of an instruction on a question, from so many samples. */
export interface Result {
  readonly id: string
  readonly question: string
  readonly source: string
  readonly mean: number
  readonly samples: number
}

/** y_a - y_b was `difference`, with the inverse variance `weight` in units of σ². */
interface Pair {
  readonly a: string
  readonly b: string
  readonly weight: number
  readonly difference: number
}

interface Cell {
  readonly id: string
  readonly weight: number
  readonly mean: number
}

/** All that was compared, and what the run says of it: P(best) and the incumbent are taken from there once they are checked. */
export interface Evidence {
  pairs: ReadonlyArray<Pair>
  /** Cells of blocks less blocks. */
  freedom: number
  samples: number
  sum: number
  /** Who entered together, in order of entry, with those who were there. */
  entries: ReadonlyArray<{ readonly present: ReadonlyArray<string>; readonly entering: ReadonlyArray<string> }>
  /** All blocks, with P(best) of everyone alive before them. */
  blocks: ReadonlyArray<{ readonly cells: ReadonlyArray<Cell>; readonly chances: ReadonlyMap<string, number> }>
  waiting: ReadonlyArray<Result & { readonly factor: number }>
  chances: ReadonlyMap<string, number>
  incumbent: string
}

export const nothing = (): Evidence => ({
  pairs: [],
  freedom: 0,
  samples: 0,
  sum: 0,
  entries: [],
  blocks: [],
  waiting: [],
  chances: new Map(),
  incumbent: ""
})

/** Adds the results of a step, in the order in which they were planned. */
export const observe = (evidence: Evidence, alive: ReadonlyArray<string>, results: ReadonlyArray<Result>): void => {
  for (const { mean, samples } of results) {
    evidence.samples += samples
    evidence.sum += mean * samples
  }
  const met = (one: Result) => results.filter(({ question }) => question === one.question)
  const shared = results.filter((one) => met(one).length > 1)
  const single = results.filter((one) => met(one).length === 1)
  for (const question of new Set(shared.map((one) => one.question)))
    compare(
      evidence,
      shared
        .filter((one) => one.question === question)
        .map(({ id, mean, samples }) => ({ id, mean, weight: 1 / (0.1 + 1 / samples) }))
    )
  const alone: Array<Result> = []
  for (const source of new Set(single.map((one) => one.source))) {
    const own = single.filter((one) => one.source === source)
    if (new Set(own.map(({ id }) => id)).size === 1) alone.push(...own)
    else deal(evidence, own)
  }
  if (new Set(alone.map(({ id }) => id)).size > 1) return deal(evidence, alone)
  for (const one of alone) {
    const held = sum(evidence.waiting.filter(({ id }) => id === one.id).map(({ factor }) => factor))
    const fade = held < 8 ? 1 : 7 / held
    evidence.waiting = [
      ...evidence.waiting.map((other) => (other.id === one.id ? { ...other, factor: other.factor * fade } : other)),
      { ...one, factor: 1 }
    ]
  }
  const ids = [...new Set(evidence.waiting.map(({ id }) => id))]
  if (alone.length === 0 || ids.length < 2) return
  if (sum(evidence.waiting.map(({ factor }) => factor)) < Math.max(2, alive.length)) return
  compare(
    evidence,
    ids.map((id) => averaged(evidence.waiting.filter((one) => one.id === id)))
  )
  evidence.waiting = []
}

/** New instructions are expected 2 points below the incumbent, give or take 5. */
export const enter = (evidence: Evidence, alive: ReadonlyArray<string>, ids: ReadonlyArray<string>): void => {
  const { noise } = model(evidence, alive)
  if (alive.length > 0)
    evidence.pairs = [
      ...evidence.pairs,
      ...ids.map((a) => ({ a, b: evidence.incumbent, weight: noise / 0.05 ** 2, difference: -0.02 }))
    ]
  if (ids.length === 0) return
  evidence.entries = [...evidence.entries, { present: alive, entering: ids }]
  if (alive.length === 0) evidence.incumbent = ids[0] ?? ""
}

export const leave = (evidence: Evidence, remaining: ReadonlyArray<string>): void => {
  evidence.waiting = evidence.waiting.filter(({ id }) => remaining.includes(id))
}

/** Means and covariances of those alive, and σ². */
export const model = ({ freedom, pairs, samples, sum }: Evidence, alive: ReadonlyArray<string>, prior = 0.01) => {
  const ids = [...new Set([...alive, ...pairs.flatMap(({ a, b }) => [a, b])])]
  const rate = (sum + 1) / (samples + 2)
  const spread = rate * (1 - rate)
  const free = normal(ids, pairs, 1, () => 1e-7)
  const residual = pairs.reduce(
    (total, { a, b, difference, weight }) =>
      total + weight * (difference - ((free.means.get(a) ?? NaN) - (free.means.get(b) ?? NaN))) ** 2,
    0
  )
  const noise = (residual + 14 * spread) / (Math.max(0, freedom - alive.length + 1) + 20)
  const known = normal(ids, pairs, noise, (id) => (alive.includes(id) ? 1 / (prior * spread) : 1e-7))
  const covariance = alive.map((a) => {
    const column = known.column(a)
    return alive.map((b) => column[ids.indexOf(b)] ?? NaN)
  })
  return { means: alive.map((id) => known.means.get(id) ?? NaN), covariance, noise }
}

/** That a rival, or all together, is better than one: its share of the risk times the mean over the bets of Π (1 + λ D), over all blocks with both. */
const against = ({ blocks, entries }: Evidence, id: string, rival: string): number => {
  const index = entries.findIndex(({ entering, present }) => {
    const all = new Set([...present, ...entering])
    return all.has(id) && all.has(rival)
  })
  const { entering, present } = entries[index] ?? { entering: [], present: [] }
  const isAgainstOldest = (present[0] ?? entering[0]) === id
  // The oldest with each newcomer; the newcomers with all, and the others with the newcomers.
  const sharing = isAgainstOldest
    ? entering.length
    : entering.length * (entering.length + present.length) + present.length * entering.length - entering.length
  const differences = blocks.flatMap(({ cells, chances }) => {
    const own = cells.find((cell) => cell.id === id)
    const met = cells.filter((cell) => cell.id !== id && (rival === id || cell.id === rival))
    const stakes = met.map((cell) => (chances.get(cell.id) ?? NaN) + 1e-6)
    const earned = sum(met.map(({ mean }, place) => mean * (stakes[place] ?? NaN))) / sum(stakes)
    return own === undefined || met.length === 0 ? [] : [earned - own.mean]
  })
  const products = [0.05, 0.1, 0.2, 0.4, 0.8, 0.95].map((bet) =>
    differences.reduce((product, one) => product * (1 + bet * one), 1)
  )
  return sum(products) / products.length / sharing / 2 / (index + 1) / (index + 2)
}

/** Whether it is certain, at the risk δ over the whole life, that one is not the best. */
export const isRefuted = (evidence: Evidence, alive: ReadonlyArray<string>, id: string, risk: number): boolean =>
  evidenceAgainst(evidence, alive, id) * risk >= 1

/** That one is not the best, by those alive, and by all that it met. */
export const evidenceAgainst = (evidence: Evidence, alive: ReadonlyArray<string>, id: string): number =>
  sum(alive.map((other) => against(evidence, id, other)))

/** Those who may be the incumbent now: who is in the lead, several where they are as good as equal. */
export const incumbents = (evidence: Evidence, alive: ReadonlyArray<string>): ReadonlyArray<string> => {
  const { means } = model(evidence, alive)
  const most = Math.max(...means)
  return alive.filter((_, place) => (means[place] ?? NaN) > most - 1e-6)
}

/** Whether one is better than the other within questions: the lower end of the 95 % interval, under a wide prior, is above 0. */
export const isBetter = (evidence: Evidence, alive: ReadonlyArray<string>, id: string, other: string): boolean => {
  const { covariance, means } = model(evidence, alive, 1)
  const [a, b] = [alive.indexOf(id), alive.indexOf(other)]
  const variance = (covariance[a]?.[a] ?? NaN) + (covariance[b]?.[b] ?? NaN) - 2 * (covariance[a]?.[b] ?? NaN)
  return (means[a] ?? NaN) - (means[b] ?? NaN) - 1.96 * Math.sqrt(Math.max(0, variance)) > 0
}

/** Checks P(best) against draws of its own. */
export const assertChances = (
  evidence: Evidence,
  alive: ReadonlyArray<string>,
  chances: ReadonlyArray<number>
): void => {
  holds(Math.abs(sum(chances) - 1) < 1e-9, "the chances are a distribution")
  const { covariance, means } = model(evidence, alive)
  const lower = root(covariance)
  const wins = means.map(() => 0)
  for (let draw = 0; draw < draws; draw++) {
    let best = 0
    let most = -Infinity
    for (const [place, row] of lower.entries()) {
      let value = means[place] ?? NaN
      for (let k = 0; k <= place; k++) value += (row[k] ?? NaN) * (normals[(draw * 8 + k) % normals.length] ?? NaN)
      if (value > most) [best, most] = [place, value]
    }
    wins[best] = (wins[best] ?? 0) + 1
  }
  for (const [place, chance] of chances.entries())
    // Five standard errors of both.
    holds(Math.abs(chance - (wins[place] ?? NaN) / draws) < 0.2, `P(best) of ${alive[place]} is ${chance}`)
}

const draws = 1000

/** Normal numbers by the central limit of sums of a multiplicative generator. */
const normals: ReadonlyArray<number> = (() => {
  let state = 12_345
  const uniform = () => {
    state = (state * 48_271) % 2_147_483_647
    return state / 2_147_483_647
  }
  return Array.from({ length: 8 * draws }, () => sum(Array.from({ length: 12 }, uniform)) - 6)
})()

/** Round robin into as many blocks as the second most frequent instruction has groups. */
const deal = (evidence: Evidence, results: ReadonlyArray<Result>): void => {
  const hands = [...new Set(results.map(({ id }) => id))].map((id) => results.filter((one) => one.id === id))
  const blocks = hands.map(({ length }) => length).toSorted((a, b) => b - a)[1] ?? 0
  for (let place = 0; place < blocks; place++)
    compare(
      evidence,
      hands
        .map((hand) => hand.filter((_, index) => index % blocks === place))
        .filter((hand) => hand.length > 0)
        .map((hand) => averaged(hand.map((one) => ({ ...one, factor: 1 }))))
    )
}

const averaged = (results: ReadonlyArray<Result & { readonly factor: number }>): Cell => {
  const groups = sum(results.map(({ factor }) => factor))
  const samples = sum(results.map(({ factor, samples }) => factor * samples))
  return {
    id: results[0]?.id ?? "",
    mean: sum(results.map(({ factor, mean }) => factor * mean)) / groups,
    weight: groups / (0.1 + 0.36 + groups / samples)
  }
}

const compare = (evidence: Evidence, cells: ReadonlyArray<Cell>): void => {
  const weights = sum(cells.map(({ weight }) => weight))
  evidence.freedom += cells.length - 1
  evidence.blocks = [...evidence.blocks, { cells, chances: evidence.chances }]
  evidence.pairs = [
    ...evidence.pairs,
    ...cells.flatMap((a, place) =>
      cells.slice(0, place).map((b) => ({
        a: a.id,
        b: b.id,
        weight: (a.weight * b.weight) / weights,
        difference: a.mean - b.mean
      }))
    )
  ]
}

/** The normal equations of differences, with a precision of its own for each instruction. */
const normal = (
  ids: ReadonlyArray<string>,
  pairs: ReadonlyArray<Pair>,
  noise: number,
  precision: (id: string) => number
) => {
  const place = new Map(ids.map((id, index) => [id, index]))
  const system = ids.map((id, row) => ids.map((_, column) => (row === column ? precision(id) : 0)))
  const right = ids.map(() => 0)
  const add = (row: number, column: number, amount: number) => {
    const own = system[row] ?? []
    own[column] = (own[column] ?? 0) + amount
  }
  for (const { a, b, difference, weight } of pairs) {
    const [first = NaN, second = NaN] = [place.get(a), place.get(b)]
    add(first, first, weight / noise)
    add(second, second, weight / noise)
    add(first, second, -weight / noise)
    add(second, first, -weight / noise)
    right[first] = (right[first] ?? 0) + (weight * difference) / noise
    right[second] = (right[second] ?? 0) - (weight * difference) / noise
  }
  const means = solve(system, right)
  return {
    means: new Map(ids.map((id, index) => [id, means[index] ?? NaN])),
    column: (id: string) =>
      solve(
        system,
        ids.map((other) => (other === id ? 1 : 0))
      )
  }
}

/** Gaussian elimination; the diagonal is the largest of its row. */
const solve = (system: ReadonlyArray<ReadonlyArray<number>>, right: ReadonlyArray<number>): ReadonlyArray<number> => {
  const rows = system.map((row, place) => [...row, right[place] ?? NaN])
  for (const [column, pivot] of rows.entries())
    for (const row of rows.slice(column + 1)) {
      const factor = (row[column] ?? NaN) / (pivot[column] ?? NaN)
      if (factor !== 0) for (let k = column; k < row.length; k++) row[k] = (row[k] ?? NaN) - factor * (pivot[k] ?? NaN)
    }
  const solution: Array<number> = []
  for (const [back, row] of rows.toReversed().entries()) {
    const place = rows.length - 1 - back
    let value = row[rows.length] ?? NaN
    for (let k = place + 1; k < rows.length; k++) value -= (row[k] ?? NaN) * (solution[k] ?? NaN)
    solution[place] = value / (row[place] ?? NaN)
  }
  return solution
}

/** L with L Lᵀ the matrix. */
const root = (matrix: ReadonlyArray<ReadonlyArray<number>>): ReadonlyArray<ReadonlyArray<number>> => {
  const lower: Array<Array<number>> = []
  for (const [row, own] of matrix.entries()) {
    const made: Array<number> = []
    lower.push(made)
    for (let column = 0; column <= row; column++) {
      const other = lower[column] ?? []
      let rest = own[column] ?? NaN
      for (let k = 0; k < column; k++) rest -= (made[k] ?? NaN) * (other[k] ?? NaN)
      made[column] = row === column ? Math.sqrt(Math.max(rest, 1e-15)) : rest / (other[column] ?? NaN)
    }
  }
  return lower
}

function sum(numbers: ReadonlyArray<number>): number {
  let total = 0
  for (const one of numbers) total += one
  return total
}
