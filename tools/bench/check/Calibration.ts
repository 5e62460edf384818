import { createHash } from "node:crypto"

/**
 * A fixed piece of work of about 20 ms, of the same kinds as the parts: numbers in arrays, small objects, maps of strings,
 * JSON, hashes. Its time is the unit of other work. Returns a number that depends on all of it, so that nothing is
 * optimized away.
 */
export const calibration = (): number => {
  const numbers = new Float64Array(40_000)
  let state = 1
  for (let index = 0; index < numbers.length; index++) {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    numbers[index] = state
  }
  numbers.sort()

  const rows = Array.from({ length: 4_000 }, (_, index) => ({
    id: `row ${index}`,
    value: numbers[index * 10] ?? 0,
    kind: index % 7
  }))
  const byId = new Map(rows.map((row) => [row.id, row]))
  const totals = rows
    .map(({ id, value }) => ({ id, value: value / 2 }))
    .filter(({ value }) => value > 1)
    .reduce((total, { id, value }) => total + value * (byId.get(id)?.kind ?? 0), 0)

  const text = JSON.stringify(rows)
  const parsed: unknown = JSON.parse(text)
  const hash = createHash("sha256").update(text).digest()
  return totals + hash.readUInt32LE(0) + (Array.isArray(parsed) ? parsed.length : 0)
}
