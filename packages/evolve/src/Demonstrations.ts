/** Demonstrations: cases of the search with right answers, as the text `examples` of a prompt of several texts. Pure. */
import { Instruction, type RandomStream } from "@inspo/domain"

/** The name of the text that demonstrations revise. What was given as this text stays at its beginning. */
export const part = "examples"

export interface Demonstration {
  readonly index: number
  readonly task: string
  readonly answer: string
}

/** The cases that a prompt demonstrates; it is not asked them. */
export const shownIn = (
  content: Instruction.Content,
  all: ReadonlyArray<Pick<Demonstration, "index" | "task">>
): ReadonlyArray<number> => {
  const text = typeof content === "string" ? "" : (content[part] ?? "")
  return all.flatMap(({ index, task }) => (text.includes(inputOf(task)) ? [index] : []))
}

/**
 * Different revisions of a prompt, each with two, four or eight demonstrations that are drawn at random; fewer if the pool has fewer than
 * four times as many, so that most cases can still be asked. Without those that are known or too long.
 */
export const draw = (
  parent: Instruction.Parts,
  {
    count,
    heading,
    known,
    longest,
    pool,
    stream
  }: {
    readonly count: number
    readonly heading: string
    readonly known: ReadonlyArray<Instruction.Content>
    readonly longest: number
    readonly pool: ReadonlyArray<Demonstration>
    readonly stream: RandomStream.RandomStream
  }
): ReadonlyArray<Instruction.Candidate> => {
  const most = Math.floor(pool.length / 4)
  const taken = new Set(known.map((content) => Instruction.ofContent(content).text))
  const offset = stream.nextIntBetween(0, sizes.length - 1)
  return Array.from({ length: most === 0 ? 0 : count }, (_, turn) => {
    const size = Math.min(most, sizes[(offset + turn) % sizes.length] ?? 1)
    const blocks = stream
      .shuffle(pool)
      .slice(0, size)
      .map(({ answer, task }) => `${inputOf(task)}${answer}`)
    return {
      ...Instruction.ofContent({ ...parent, [part]: [heading, ...blocks].join("\n\n") }),
      rationale: `demonstrates ${size} cases`
    }
  }).filter(({ text }) => {
    const isNew = !taken.has(text) && text.length <= longest
    taken.add(text)
    return isNew
  })
}

const sizes = [2, 4, 8]

const inputOf = (task: string): string => `Input: ${task}\nOutput: `
