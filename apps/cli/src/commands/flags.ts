import { partNames } from "@inspo/coevolution/Ablations"
import { Flag } from "effect/cli"

export const json = Flag.Boolean("json").pipe(
  Flag.withDescription("Print one JSON document on standard output and everything else on standard error"),
  Flag.withDefault(false)
)

export const quiet = Flag.Boolean("quiet").pipe(Flag.withDescription("Print no progress"), Flag.withDefault(false))

export const presetName = Flag.String("preset").pipe(
  Flag.withMetavar("NAME"),
  Flag.withDescription(
    "Settings to start from: quick, tiny, paper, paper-7b or robust; `inspo init --list` tells what each is for"
  )
)

export const preset = presetName.pipe(Flag.withDefault("quick"))

export const set = Flag.String("set").pipe(
  Flag.withMetavar("KEY=VALUE"),
  Flag.withDescription("Change one setting, such as schedule.steps=50; may be repeated"),
  Flag.atLeast(0)
)

/** Parts of co-evolution that are left out. */
export const ablate = Flag.Literals("ablate", partNames).pipe(
  Flag.withDescription("Leave a part of co-evolution out, to learn what it is worth; may be repeated"),
  Flag.atLeast(0)
)

/** Consent to what the run directories of a command name. */
export const trust = Flag.Boolean("trust").pipe(
  Flag.withDescription(
    "Allow what the config.json of a directory that is not yours names: servers, programs, environment variables. Read it first; " +
      "the answer is remembered until it changes"
  ),
  Flag.withDefault(false)
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

/** Whether a run is compared with its static arm; where it is not said, the config or what the run began with says. */
export const baseline = Flag.Boolean("baseline").pipe(
  Flag.withDescription(
    "Compare with the static instruction at the same budget; --no-baseline leaves it out, also when the run is resumed"
  ),
  Flag.optional
)

/** Where a server listens; `header` is how clients bring their key. */
export const address = (port: number, header: string) => ({
  port: Flag.Int("port").pipe(
    Flag.withMetavar("N"),
    Flag.withDescription("Port to listen on; 0 takes a free one"),
    Flag.withDefault(port)
  ),
  host: Flag.String("host").pipe(
    Flag.withMetavar("ADDRESS"),
    Flag.withDescription("Address to listen on; one that other machines can reach needs --api-key-env"),
    Flag.withDefault("127.0.0.1")
  ),
  apiKeyEnv: Flag.String("api-key-env").pipe(
    Flag.withMetavar("NAME"),
    Flag.withDescription(`Environment variable with the key that requests have to bring as ${header}`),
    Flag.optional
  )
})

/** Who is told what a run measures while it lasts. */
export const tracking = {
  track: Flag.String("track").pipe(
    Flag.withMetavar("TRACKER"),
    Flag.withDescription(
      "Tell a tracker what the run measures: tensorboard, mlflow[=URL] or prometheus[=PORT]; may be repeated"
    ),
    Flag.atLeast(0)
  ),
  trackNames: Flag.Literals("track-names", ["inspo", "verl"]).pipe(
    Flag.withDescription("By which names: those of metrics.jsonl, or verl's where it has one"),
    Flag.withDefault("inspo")
  )
}
