import { Effect, Option } from "effect"
import { InvalidStudy } from "./Host.ts"

/** The flags that studies and the gate share. */
export interface SharedFlags {
  readonly arms: Option.Option<string>
  readonly preset: Option.Option<string>
  readonly set: ReadonlyArray<string>
}

/** The command that repeats a study: its first words, the shared flags, then further ones. */
export const commandLine = (
  words: ReadonlyArray<string>,
  { arms, preset, set }: SharedFlags,
  further: ReadonlyArray<string> = []
): string =>
  [
    ...words,
    ...Option.match(arms, { onNone: () => [], onSome: (names) => [`--arms ${names}`] }),
    ...Option.match(preset, { onNone: () => [], onSome: (name) => [`--preset ${name}`] }),
    ...further,
    ...set.map((setting) => `--set '${setting}'`)
  ].join(" ")

/** The items that `--arms` names, in the order of the list; all of them without the flag. */
export const named = <A extends { readonly name: string }>(all: ReadonlyArray<A>, list: Option.Option<string>) =>
  Effect.gen(function* () {
    if (Option.isNone(list)) return all
    const names = list.value.split(",").map((part) => part.trim())
    const unknown = names.find((name) => all.every((one) => one.name !== name))
    if (unknown !== undefined)
      return yield* new InvalidStudy({
        problem: `--arms names ${JSON.stringify(unknown)}, expected some of ${all.map(({ name }) => name).join(", ")}.`
      })
    return all.filter(({ name }) => names.includes(name))
  })
