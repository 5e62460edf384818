import { Command } from "effect/cli"
import * as flags from "./flags.ts"
import { readerHandler } from "./handler.ts"

export const doctor = Command.make("doctor", { json: flags.json }, (input) =>
  readerHandler(
    () => import("../doctor/Doctor.ts"),
    ({ diagnose }) => diagnose(input)
  )
).pipe(
  Command.withDescription("Check that everything a run needs works on this machine"),
  Command.withExamples([{ command: "inspo doctor --json", description: "One JSON document, for a bug report" }])
)
