import type { RandomStream } from "@inspo/domain"
import { bank, clausesOf, seedPrompt } from "./World.ts"

/** What the score says of a failure: one clause that would help, among those that the prompt lacks. */
export const hint = (effects: ReadonlyArray<number>, prompt: string, stream: RandomStream.RandomStream): string => {
  const own = clausesOf(prompt)
  const missing = bank.filter((_, place) => (effects[place] ?? 0) > 0 && !own.includes(place))
  const clause = missing[Math.floor(stream.next() * missing.length)]
  return clause === undefined ? "The label is wrong." : `The label is wrong. A reader would say: ${clause}`
}

/** The places of the clauses that a request hints at, and that a prompt lacks. */
export const hinted = (request: string, own: ReadonlyArray<number>): ReadonlyArray<number> =>
  bank.flatMap((clause, place) =>
    request.includes(`A reader would say: ${clause}`) && !own.includes(place) ? [place] : []
  )

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
  const missing = hinted(request, own)
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
