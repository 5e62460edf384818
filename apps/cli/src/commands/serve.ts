import { Argument, Command, Flag } from "effect/cli"
import * as flags from "./flags.ts"
import { handler } from "./handler.ts"

export const serve = Command.make(
  "serve",
  {
    config: Argument.optional(
      flags.argument("config", "YAML or JSON with populations by name, each with its seed and settings")
    ),
    ...flags.address(8700, "Authorization: Bearer KEY"),
    leaseKeyEnv: flags.optionalText(
      "lease-key-env",
      "NAME",
      "Environment variable with a second key, for agents and trainers: it reaches leases and rewards alone"
    ),
    out: flags
      .text("out", "DIR", "Directory in which populations are kept; taken up again where there are some")
      .pipe(Flag.withDefault("served")),
    database: flags.optionalText(
      "database",
      "URL",
      "PostgreSQL in place of --out, such as postgres://user@host/database: of several servers on it one is active and the others pass requests on and take over"
    ),
    databasePasswordEnv: flags.optionalText(
      "database-password-env",
      "NAME",
      "Environment variable with the password of the database"
    ),
    advertise: flags.optionalText(
      "advertise",
      "URL",
      "Where the other servers on the database reach this one, if not where it listens"
    ),
    seedFile: Flag.atLeast(
      flags.text("seed-file", "FILE", "Text to make a population of that is called as the file is; may be repeated"),
      0
    ),
    upstream: flags.optionalText(
      "upstream",
      "URL",
      "Language model to pass OpenAI's requests on to, such as https://api.openai.com/v1; {{inspo:NAME}} in a system prompt becomes the leased instruction"
    ),
    upstreamKeyEnv: flags.optionalText(
      "upstream-key-env",
      "NAME",
      "Environment variable with the key that it takes; without it the caller's own is passed on"
    ),
    upstreamTimeout: flags
      .integer("upstream-timeout", "How long the upstream may say nothing, before its answer and within it", "SECONDS")
      .pipe(Flag.withDefault(600)),
    json: flags.json
  },
  handler(async () => (await import("../serve/Serve.ts")).serve)
).pipe(
  flags.help({
    short: "Lease evolving instructions to agents and trainers",
    description:
      "Lease evolving instructions to agents and training loops and learn from their rewards, until Ctrl-C. Without " +
      "anything it makes a population called default",
    examples: {
      "inspo serve": "On http://127.0.0.1:8700, with a population called default",
      "inspo serve --seed-file support.txt": "A population support that begins with that text",
      "inspo serve populations.yaml --host 0.0.0.0 --api-key-env INSPO_KEY": "For other machines, which bring the key"
    }
  })
)
