import type { RandomStream } from "@inspo/domain"
import { bank, clausesOf, seedPrompt } from "./World.ts"

/** What the score says of a failure: one clause that would help, among those that the prompt lacks. */
export const hint = (effects: ReadonlyArray<number>, prompt: string, stream: RandomStream.RandomStream): string => {
  const own = clausesOf(prompt)
  const missing = bank.filter((_, place) => (effects[place] ?? 0) > 0 && !own.includes(place))
  const clause = missing[Math.floor(stream.next() * missing.length)]
  return clause === undefined ? "The label is wrong." : `The label is wrong. ${hintOf(clause)}`
}

const hintOf = (clause: string): string => `A reader would say: ${clause}`

/** How many revisions a request asks for. */
export const countIn = (request: string): number => Number(/<ins_(\d+)>(?![\s\S]*<ins_\d+>)/u.exec(request)?.[1] ?? 1)

/** Revisions as the answer of a proposer. */
export const answer = (texts: ReadonlyArray<string>): string =>
  texts.map((text, place) => `<ins_${place + 1}>${text}</ins_${place + 1}>`).join("\n")

/** Revisions of a prompt, `count` of them. */
export const revise = (
  parent: string,
  request: string,
  count: number,
  stream: RandomStream.RandomStream
): ReadonlyArray<string> => {
  const own = clausesOf(parent)
  const isHinted = (clause: string, place: number) => !own.includes(place) && request.includes(hintOf(clause))
  const missing = bank.flatMap((clause, place) => (isHinted(clause, place) ? [place] : []))
  return Array.from({ length: count }, () => {
    const added = missing.filter(() => stream.next() < followed)
    const place = added.length === 0 || stream.next() < invented ? Math.floor(stream.next() * bank.length) : null
    const clauses = new Set([...own, ...added])
    if (place !== null && !clauses.delete(place)) clauses.add(place)
    return [seedPrompt, ...bank.filter((_, clause) => clauses.has(clause))].join(" ")
  })
}

const followed = 0.5
const invented = 0.5
