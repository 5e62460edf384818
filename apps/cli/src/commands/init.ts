import { Argument, Command, Flag } from "effect/cli"
import * as flags from "./flags.ts"
import { handler } from "./handler.ts"

export const init = Command.make(
  "init",
  {
    directory: Argument.String("dir").pipe(
      Argument.withDescription("Directory to write to; the current one by default"),
      Argument.withDefault(".")
    ),
    preset: flags.preset,
    short: Flag.Boolean("short").pipe(
      Flag.withDescription("Write only the settings that are changed first; the others come from --preset"),
      Flag.withDefault(false)
    ),
    list: Flag.Boolean("list").pipe(
      Flag.withDescription("Write nothing, but list the presets, and the parts that --ablate leaves out"),
      Flag.withDefault(false)
    ),
    force: Flag.Boolean("force").pipe(Flag.withDescription("Write over files that exist"), Flag.withDefault(false)),
    json: flags.json
  },
  (input) =>
    handler(
      () => import("../run/Init.ts"),
      ({ init }) => init(input)
    )
).pipe(
  Command.withDescription(
    "Write a config file with every setting explained, and its JSON Schema for editors. It runs as it is"
  ),
  Command.withShortDescription("Write a config file with every setting explained"),
  Command.withExamples([
    { command: "inspo init", description: "config.yaml and config.schema.json, here" },
    { command: "inspo init --short", description: "The 20 settings that are changed first" },
    { command: "inspo init --list", description: "Which presets there are, and which parts to leave out" },
    { command: "inspo init mine --preset paper", description: "The settings of the paper, in mine/" },
    { command: "inspo run mine/config.yaml", description: "Then start it" }
  ])
)
