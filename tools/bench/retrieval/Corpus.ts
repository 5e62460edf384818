/** A synthetic corpus of any size, the same at each call. */
import { once } from "node:events"
import { createWriteStream } from "node:fs"

/** Words per passage. */
export const length = 60

/** Distinct words of the language. */
const vocabulary = 400_000
const questions = 500

/** Writes the corpus and returns questions of ten words, each from one of the passages. */
export const write = async (file: string, size: number): Promise<ReadonlyArray<string>> => {
  const word = zipf()
  const draw = draws()
  const stream = createWriteStream(file, { highWaterMark: 1 << 22 })
  const every = Math.max(1, Math.floor(size / questions))
  const asked: Array<string> = []
  for (let id = 0; id < size; id++) {
    const words = Array.from({ length }, () => word(draw()))
    const row = { id: `${id}`, contents: `"${words.slice(0, 2).join(" ")}"\n${words.join(" ")}` }
    if (id % every === 0 && asked.length < questions) asked.push(words.filter((_, place) => place % 6 === 0).join(" "))
    if (!stream.write(`${JSON.stringify(row)}\n`)) await once(stream, "drain")
  }
  stream.end()
  await once(stream, "finish")
  return asked
}

/** Maps a number in [0, 1) to a word by Zipf's law: the word of rank r has a probability proportional to 1 / r. */
const zipf = () => {
  const cumulative = new Float64Array(vocabulary)
  let total = 0
  for (let rank = 0; rank < vocabulary; rank++) cumulative[rank] = total += 1 / (rank + 1)
  const words = Array.from(cumulative, (_, rank) => wordOf(rank))
  return (draw: number): string => {
    let low = 0
    let high = vocabulary - 1
    while (low < high) {
      const middle = (low + high) >> 1
      if ((cumulative[middle] ?? 0) < draw * total) low = middle + 1
      else high = middle
    }
    return words[low] ?? ""
  }
}

const syllables = ["ba", "ke", "lo", "mi", "nu", "ra", "se", "ti", "vo", "zu", "da", "fe", "go", "hi", "ju", "pa"]

const wordOf = (rank: number): string =>
  (rank + syllables.length)
    .toString(syllables.length)
    .replaceAll(/./gu, (digit) => syllables[Number.parseInt(digit, syllables.length)] ?? "")

/** Numbers in [0, 1), the same at each call; a random service would be slower than the index. */
const draws = (): (() => number) => {
  let state = 1
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return (Math.imul(state ^ (state >>> 16), 0x45d9f3b) >>> 0) / 2 ** 32
  }
}
