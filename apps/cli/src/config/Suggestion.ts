import { Array as Arr, Option, Order } from "effect"

/** Number of single-character insertions, deletions and replacements between two texts (Levenshtein, 1966). */
export const distance = (left: string, right: string): number => {
  let row: ReadonlyArray<number> = Arr.makeBy(right.length + 1, (index) => index)
  for (let i = 0; i < left.length; i++) {
    const next = [i + 1]
    for (let j = 0; j < right.length; j++) {
      const replaced = (row[j] ?? 0) + (left[i] === right[j] ? 0 : 1)
      next.push(Math.min(replaced, (row[j + 1] ?? 0) + 1, (next[j] ?? 0) + 1))
    }
    row = next
  }
  return row[right.length] ?? 0
}

/** The closest known name: one with the same last part, or last two, else the one with the fewest edits, up to a third of its length. */
export const nearest = (name: string, known: ReadonlyArray<string>): Option.Option<string> => {
  const lower = name.toLowerCase()
  const scored = known.map((candidate) => {
    const text = candidate.toLowerCase()
    const whole = distance(lower, text)
    const last = Math.min(...[lastPart(text), lastTwo(text)].map((end) => distance(lastPart(lower), end)))
    return { candidate, whole, last, close: whole * 3 <= text.length || last === 0 }
  })
  return Arr.head(
    Arr.sort(
      scored.filter(({ close }) => close),
      Order.combine(
        Order.mapInput(Order.Number, (entry: (typeof scored)[number]) => entry.last),
        Order.mapInput(Order.Number, (entry: (typeof scored)[number]) => entry.whole)
      )
    )
  ).pipe(Option.map(({ candidate }) => candidate))
}

/** The last two parts as one word, since `miniBatchSize` means `train.miniBatch.size`. */
const lastTwo = (name: string): string => name.split(".").slice(-2).join("")

const lastPart = (name: string): string => name.slice(name.lastIndexOf(".") + 1)
