import { Predicate } from "effect"

/** A value of a row as JSON in either format, without fields that are null. Below `levels` it stays: no column nests as deeply. */
export const plain = (value: unknown, levels = 8): unknown => {
  if (typeof value === "bigint") {
    const number = Number(value)
    return Number.isSafeInteger(number) ? number : String(value)
  }
  if (value instanceof Date) return value.toISOString()
  if (levels === 0) return value
  if (Array.isArray(value)) return value.map((element) => plain(element, levels - 1))
  if (!Predicate.isObject(value) || value instanceof Uint8Array) return value
  return Object.fromEntries(
    Object.entries(value).flatMap(([key, field]) =>
      field === null || field === undefined ? [] : [[key, plain(field, levels - 1)]]
    )
  )
}
