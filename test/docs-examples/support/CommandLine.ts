import { Presets } from "@inspo/config"
import { inspo } from "../../../apps/cli/src/Cli.ts"
import { configKeys } from "../../../apps/cli/src/config/ConfigKeys.ts"
import { parseSet, resolve } from "../../../apps/cli/src/config/Resolve.ts"
import { research } from "../../../research/studies/cli/Command.ts"
import { Completions } from "effect/cli"
import { Result } from "effect"

const programs = { inspo: Completions.fromCommand(inspo), research: Completions.fromCommand(research) }

/** The words of a command line after the name of its program. */
export interface Line {
  readonly program: keyof typeof programs
  readonly words: ReadonlyArray<string>
}

/** Each `inspo …` and `research …` of a shell script. */
export const commandLines = (script: string): ReadonlyArray<Line> =>
  script
    .replaceAll(/\\\n\s*/gu, " ")
    .split("\n")
    .flatMap((line): ReadonlyArray<Line> => {
      const [, rest] = /^(?:\w+=\S+ )*(?:npx pnpm@12 )?inspo(?: (.*))?$/u.exec(line.trim()) ?? []
      const [, flags] = /^npx pnpm@12 start(?: (.*))?$/u.exec(line.trim()) ?? []
      const [, study] = /^npx pnpm@12 research(?: (.*))?$/u.exec(line.trim()) ?? []
      if (rest !== undefined) return [{ program: "inspo", words: words(rest) }]
      if (study !== undefined) return [{ program: "research", words: words(study) }]
      return flags === undefined ? [] : [{ program: "inspo", words: ["run", "--preset", "quick", ...words(flags)] }]
    })

/** The problem of a command line, as far as can be seen without running it, or null. */
export const fault = ({ program, words: line }: Line): string | null => {
  let command = programs[program]
  let rest = line
  for (;;) {
    const sub = command.subcommands.find(({ name }) => name === rest[0])
    if (sub === undefined) break
    command = sub
    rest = rest.slice(1)
  }
  if (command.subcommands.length > 0) return `${rest[0] ?? "nothing"} is no verb of ${command.name}`

  const values = new Map<string, Array<string>>()
  const operands: Array<string> = []
  for (let at = 0; at < rest.length; at++) {
    const word = rest[at] ?? ""
    if (!word.startsWith("--")) {
      operands.push(word)
      continue
    }
    const [name = "", attached] = word.slice(2).split(/=(.*)/su)
    const flag = command.flags.find((flag) => flag.name === name || `no-${flag.name}` === name)
    if (flag === undefined && name !== "help") return `${command.name} has no flag --${name}`
    if (flag === undefined || flag.type._tag === "Boolean") continue
    const value = attached ?? (flag.optionalValue === true ? "" : rest[++at])
    if (value === undefined) return `--${name} has no value`
    if (flag.type._tag === "Choice" && !flag.type.values.includes(value)) return `--${name} cannot be ${value}`
    values.set(name, [...(values.get(name) ?? []), value])
  }
  const needed = command.arguments.filter(({ required, variadic }) => required && !variadic).length
  const most = command.arguments.some(({ variadic }) => variadic) ? Infinity : command.arguments.length
  if (operands.length < needed || operands.length > most)
    return `${command.name} takes ${command.arguments.map(({ name }) => name).join(", ")}, not ${operands.join(" ")}`

  // A served population has settings of its own.
  const named = operands.some((operand) => operand.startsWith("served")) ? [] : ["set", "grid"]
  const unknown = named
    .flatMap((flag) => values.get(flag) ?? [])
    .map((setting) => setting.split("=")[0] ?? "")
    .find((name) => !isSetting(name))
  if (unknown !== undefined) return `there is no setting ${unknown}`

  const preset = values.get("preset")?.at(-1) ?? "quick"
  const base = Presets.byName[preset]
  if (base === undefined) return `there is no preset ${preset}`
  // What a file or a run says is not known, and a setting may need it.
  const settings = values.get("set") ?? []
  const overrides = Result.all(settings.map(parseSet))
  const config = Result.flatMap(overrides, (known) => resolve(base, known))
  return Result.isFailure(config) && operands.length === 0 ? config.failure.message : null
}

/** A setting, a section of settings, or a value within a setting that holds several. */
const isSetting = (name: string): boolean =>
  configKeys.some(({ isSection, path }) => path === name || (!isSection && name.startsWith(`${path}.`)))

/** Splits as a shell does, as far as documents need it: quotes; what is piped on or redirected, and comments, left out. */
const words = (text: string): ReadonlyArray<string> =>
  [...text.replace(/\s(?:#|<|>|\||&&)\s.*$/u, "").matchAll(/(?:[^\s"']|"[^"]*"|'[^']*')+/gu)].map(([word]) =>
    word.replaceAll(/"([^"]*)"|'([^']*)'/gu, "$1$2")
  )
