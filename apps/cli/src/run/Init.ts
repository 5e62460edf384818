import { Console, Effect, FileSystem, Path } from "effect"
import { jsonSchema } from "../config/ConfigKeys.ts"
import { configTemplate } from "../config/ConfigTemplate.ts"
import { presetByName } from "../config/Input.ts"
import { UsageError } from "../Failure.ts"
import { replaceFile } from "../runDirectory/Write.ts"
import { programName } from "./ProgramName.ts"

export interface InitInput {
  readonly directory: string
  readonly preset: string
  readonly force: boolean
  readonly json: boolean
}

/** Writes a config file that explains itself, and the JSON Schema that editors check it with. */
export const init = Effect.fn("Init.init")(function* ({ directory, force, json, preset }: InitInput) {
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const config = yield* presetByName(preset)
  const file = path.join(directory, "config.yaml")
  const schema = path.join(directory, "config.schema.json")
  const program = yield* programName
  const run = `${program} run ${file}`

  const existing = force ? [] : yield* Effect.filter([file, schema], (one) => fs.exists(one))
  if (existing[0] !== undefined)
    return yield* new UsageError({
      problem: `${existing[0]} exists. Name another directory, or give --force to write over it.`
    })
  yield* fs.makeDirectory(directory, { recursive: true })
  const introduction =
    `All settings of a run, as the preset ${preset} has them; "row 7" means that row of docs/algorithm.md. Lines that you ` +
    `delete take the value of --preset. Start with: ${run}`
  yield* replaceFile(file, configTemplate(config, introduction, "config.schema.json"))
  yield* replaceFile(schema, `${JSON.stringify(jsonSchema, null, 2)}\n`)
  return yield* Console.log(
    json
      ? JSON.stringify({ config: file, schema, preset })
      : [
          `${file}  the settings of preset ${preset}, explained`,
          `${schema}  for editors`,
          "",
          `Start with: ${run}`
        ].join("\n")
  )
})
