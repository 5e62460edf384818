/** Short names of instructions: what distinguishes each from its parent. */
import { distinction, shortened } from "./WordDiff.ts"

/** The most characters of a name. */
export const longest = 36

/** What is known of an instruction or of a candidate; `parent` is an id. */
export interface Named {
  readonly id: string
  readonly text: string
  readonly parent: string | null
}

/**
 * The names of instructions by id, for the first one "seed", of at most {@link longest} characters. Parents come before their children.
 * Different texts have different names, which further instructions do not change.
 */
export const names = (instructions: ReadonlyArray<Named>): ReadonlyMap<string, string> =>
  withNames(unnamed, instructions).names

/** The names given so far, by id. */
export interface Naming {
  readonly names: ReadonlyMap<string, string>
  readonly texts: ReadonlyMap<string, string>
  readonly seed: string | null
  readonly byText: ReadonlyMap<string, string>
  readonly taken: ReadonlySet<string>
}

/** The naming before the first instruction. */
export const unnamed: Naming = { names: new Map(), texts: new Map(), seed: null, byText: new Map(), taken: new Set() }

/** With the names of further instructions, as {@link names} gives them all at once. A known id gets the name of its new text. */
export const withNames = (before: Naming, instructions: ReadonlyArray<Named>): Naming => {
  const seed = before.seed ?? instructions[0]?.text ?? null
  const texts = new Map([...before.texts, ...instructions.map(({ id, text }) => [id, text] as const)])
  const byText = new Map(before.byText)
  const taken = new Set(before.taken)
  const names = new Map(before.names)
  for (const { id, parent, text } of instructions) {
    const from = parent === null ? seed : (texts.get(parent) ?? seed)
    const known = byText.get(text)
    const first = known ?? (text === seed ? "seed" : distinction(from, text, longest))
    // Two parents can get the same words, and long names can begin alike.
    const name = known === undefined && taken.has(first) ? numbered(first, taken) : first
    byText.set(text, name)
    taken.add(name)
    names.set(id, name)
  }
  return { names, texts, seed, byText, taken }
}

/** Writes instructions with their names: `i3 “Search twice.”`, and for the seed `i0 (seed)`; an unknown one by its id. */
export const labels =
  (names: ReadonlyMap<string, string>) =>
  (id: string): string => {
    const name = names.get(id)
    return name === undefined ? id : name === "seed" ? `${id} (seed)` : `${id} “${name}”`
  }

/** A sentence with the label of each instruction that it mentions by its id. */
export const withLabels = (label: (id: string) => string, sentence: string): string =>
  sentence.replaceAll(/[\w-]+(?:\.\w+)*/gu, label)

const numbered = (name: string, taken: ReadonlySet<string>): string => {
  for (let number = 2; ; number++) {
    const end = ` (${number})`
    const candidate = `${shortened(name, longest - end.length)}${end}`
    if (!taken.has(candidate)) return candidate
  }
}
