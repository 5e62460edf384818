import { Result } from "effect"

/** Reads a list of seeds such as `1-10` or `1,4,7-9`, in order and without repeats; the failure is a sentence about `flag`. */
export const parseSeeds = (flag: string, text: string): Result.Result<ReadonlyArray<number>, string> => {
  const seeds = new Set<number>()
  for (const part of text.split(",")) {
    const match = /^\s*(\d+)(?:\s*-\s*(\d+))?\s*$/u.exec(part)
    const first = Number(match?.[1])
    const last = match?.[2] === undefined ? first : Number(match[2])
    if (match === null || last < first || last - first >= 1000)
      return Result.fail(`${flag} is ${JSON.stringify(text)}, expected seeds such as 1-10 or 1,4,7.`)
    for (let seed = first; seed <= last; seed++) seeds.add(seed)
  }
  return Result.succeed([...seeds])
}
