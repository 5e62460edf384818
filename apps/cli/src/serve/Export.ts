import { join } from "node:path"
import { View } from "@inspo/serve"
import { Text } from "@inspo/report"
import { Effect } from "effect"
import { chooseAnother, claim } from "../runDirectory/Claim.ts"
import { replaceFile } from "../runDirectory/Write.ts"
import * as Reporter from "../terminal/Reporter.ts"
import { type Place, read } from "./StoredPopulations.ts"

/** Writes the instruction to use outside learning, as text or, if it has several texts, as JSON, and why it was chosen. */
export const exportPopulation = Effect.fn("Served.export")(function* (place: Place, out: string) {
  const { state } = yield* read(place)
  const { instruction, reason, why } = View.incumbent(state)
  const manifest = { population: place.name, instruction, reason, why, cohorts: state.learning.population.step }
  const { directory, discard } = yield* claim(out, chooseAnother)
  const [file, text] =
    "text" in instruction
      ? ["instruction.txt", `${instruction.text}\n`]
      : ["instruction.json", `${JSON.stringify(instruction.texts, null, 2)}\n`]
  yield* Effect.gen(function* () {
    yield* replaceFile(join(directory, file), text)
    yield* replaceFile(join(directory, "manifest.json"), `${JSON.stringify(manifest, null, 2)}\n`)
  }).pipe(Effect.onError(() => discard))
  yield* Reporter.print({ directory, ...manifest }, (columns) =>
    Text.wrap(`${directory} contains ${instruction.id}. ${why}`, columns)
  )
})
