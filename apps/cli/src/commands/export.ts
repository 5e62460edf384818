import { Argument, Command, Flag } from "effect/cli"
import * as flags from "./flags.ts"
import { handler, trusting } from "./handler.ts"

export const exportRun = Command.make(
  "export",
  {
    directory: Argument.String("dir").pipe(
      Argument.withDescription("Directory of a finished run, or of a served population")
    ),
    out: Flag.String("out").pipe(
      Flag.withMetavar("DIR"),
      Flag.withDescription("New or empty directory for what is deployed")
    ),
    trust: flags.trust,
    json: flags.json
  },
  ({ trust, ...input }) =>
    trusting(
      trust,
      handler(
        () => import("../run/Export.ts"),
        ({ exportRun }) => exportRun(input)
      )
    )
).pipe(
  Command.withDescription(
    "Write policy, tokenizer and best instruction of a finished run for deployment, or the incumbent of a served population, and why it is"
  ),
  Command.withShortDescription("Write what to deploy of a finished run: policy and instruction"),
  Command.withExamples([{ command: "inspo export runs/mine --out deploy", description: "A folder to serve from" }])
)
