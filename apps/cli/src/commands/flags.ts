import { Flag } from "effect/cli"

export const json = Flag.Boolean("json").pipe(
  Flag.withDescription("Print one JSON document on standard output and everything else on standard error"),
  Flag.withDefault(false)
)

export const quiet = Flag.Boolean("quiet").pipe(Flag.withDescription("Print no progress"), Flag.withDefault(false))

export const preset = Flag.String("preset").pipe(
  Flag.withMetavar("NAME"),
  Flag.withDescription(
    "Settings to start from: quick, paper, robust, or an ablation of quick (an unknown name lists all)"
  ),
  Flag.withDefault("quick")
)

export const set = Flag.String("set").pipe(
  Flag.withMetavar("KEY=VALUE"),
  Flag.withDescription("Change one setting, such as schedule.steps=50; may be repeated"),
  Flag.atLeast(0)
)

export const seed = Flag.Int("seed").pipe(
  Flag.withMetavar("N"),
  Flag.withDescription("Seed of every random choice"),
  Flag.optional
)

export const out = Flag.String("out").pipe(
  Flag.withMetavar("DIR"),
  Flag.withDescription("New or empty directory for everything that is written"),
  Flag.optional
)
