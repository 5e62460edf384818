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
 *
 * @example
 * ```ts
 * import { names } from "@inspo/dashboard/Names"
 *
 * names([
 *   { id: "i0", text: "Answer.", parent: null },
 *   { id: "i1", text: "Search twice. Answer.", parent: "i0" }
 * ]) // i0: "seed", i1: "Search twice."
 * ```
 */
export const names = (instructions: ReadonlyArray<Named>): ReadonlyMap<string, string> => {
  const texts = new Map(instructions.map(({ id, text }) => [id, text]))
  const [seed] = instructions
  const nameOf = new Map<string, string>()
  const taken = new Set<string>()
  return new Map(
    instructions.map(({ id, parent, text }) => {
      const known = nameOf.get(text)
      if (known !== undefined) return [id, known]
      const from = parent === null ? seed?.text : (texts.get(parent) ?? seed?.text)
      const first = text === seed?.text ? "seed" : distinction(from ?? null, text, longest)
      // Two parents can get the same words, and long names can begin alike.
      const name = taken.has(first) ? numbered(first, taken) : first
      nameOf.set(text, name)
      taken.add(name)
      return [id, name]
    })
  )
}

/** Writes instructions with their names: `i3 “Search twice.”`, and for the seed `i0 (seed)`; an unknown one by its id. */
export const labels =
  (names: ReadonlyMap<string, string>) =>
  (id: string): string => {
    const name = names.get(id)
    return name === undefined ? id : name === "seed" ? `${id} (seed)` : `${id} “${name}”`
  }

const numbered = (name: string, taken: ReadonlySet<string>): string => {
  for (let number = 2; ; number++) {
    const end = ` (${number})`
    const candidate = `${shortened(name, longest - end.length)}${end}`
    if (!taken.has(candidate)) return candidate
  }
}
