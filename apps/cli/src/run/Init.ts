import { Ablations } from "@inspo/coevolution"
import { Presets } from "@inspo/config"
import { Effect, FileSystem, Path, Predicate } from "effect"
import { jsonSchema } from "../config/ConfigKeys.ts"
import { configTemplate } from "../config/ConfigTemplate.ts"
import { presetByName } from "../config/Input.ts"
import { leafPaths } from "../config/Resolve.ts"
import { usageError } from "../Failure.ts"
import * as Reporter from "../terminal/Reporter.ts"
import { replaceFile } from "../runDirectory/Write.ts"
import { Text } from "@inspo/report"
import { programName } from "../Program.ts"

export interface InitInput {
  readonly directory: string
  readonly preset: string
  /** Only the settings that are changed first. */
  readonly short: boolean
  /** Write nothing; list the presets. */
  readonly list: boolean
  readonly force: boolean
}

/** Writes a config file with every setting explained, and the JSON Schema that editors check it with; or lists the presets. */
export const init = Effect.fn("Init.init")(function* ({ directory, force, list, preset, short }: InitInput) {
  if (list) return yield* listPresets()
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const config = yield* presetByName(preset)
  const file = path.join(directory, "config.yaml")
  const schema = path.join(directory, "config.schema.json")
  const program = yield* programName
  // The settings that a short file does not name come from the preset.
  const run = `${program} run ${file}${short && preset !== defaultPreset ? ` --preset ${preset}` : ""}`

  const existing = force ? [] : yield* Effect.filter([file, schema], (one) => fs.exists(one))
  if (existing[0] !== undefined)
    return yield* usageError(`${existing[0]} exists. Name another directory, or overwrite it with --force.`)
  yield* fs.makeDirectory(directory, { recursive: true })
  const introduction =
    `${short ? "The settings that are changed first" : "All settings of a run"}, as the preset ${preset} has them. ` +
    "Lines that you delete take the value of --preset" +
    `${short ? `, as all others do: \`${program} init\` writes those too` : ""}. Start with: ${run}`
  const settings = short ? pick(config, first) : config
  yield* replaceFile(file, configTemplate(settings, introduction, "config.schema.json"))
  yield* replaceFile(schema, `${JSON.stringify(jsonSchema, null, 2)}\n`)
  return yield* Reporter.print({ config: file, schema, preset }, () => [
    `${file}  ${short ? `${leafPaths(settings).length} settings` : "the settings"} of preset ${preset}, explained`,
    `${schema}  for editors`,
    "",
    `Start with: ${run}`
  ])
})

const listPresets = () => {
  const presets = Object.entries(Presets.purposes).map(([preset, purpose]) => ({ preset, purpose }))
  const parts = Ablations.partNames.map((part) => ({ part, remains: Ablations.parts[part].remains }))
  return Reporter.print({ presets, parts }, (columns) => [
    "Settings to start from, with --preset NAME",
    ...Text.rows(Object.entries(Presets.purposes), columns),
    "",
    "What a run can leave out, with --ablate PART, and what remains",
    ...Text.rows(
      parts.map(({ part, remains }) => [part, remains]),
      columns
    )
  ])
}

const defaultPreset = "quick"

/** The settings that a first run of one's own changes: what it asks, what it spends, and what it runs on. */
const first = [
  "randomSeed",
  "data.questions",
  "data.corpus",
  "seedInstruction",
  "population.size",
  "schedule.steps",
  "schedule.pruneEvery",
  "schedule.evolveEvery",
  "proposer.candidates",
  "proposer.model",
  "rollout.groupSize",
  "rollout.maxTurns",
  "reward.kind",
  "train.batchSize",
  "train.learningRate",
  "evaluation.questions",
  "policy.model",
  "engine.url",
  "budget.usd"
] as const

const pick = (config: object, names: ReadonlyArray<string>): object =>
  Object.fromEntries(
    Object.entries(config).flatMap(([key, value]: [string, unknown]) => {
      if (names.includes(key)) return [[key, value]]
      const below = names.flatMap((name) => (name.startsWith(`${key}.`) ? [name.slice(key.length + 1)] : []))
      return Predicate.isObjectKeyword(value) && below.length > 0 ? [[key, pick(value, below)]] : []
    })
  )
