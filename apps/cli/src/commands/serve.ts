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
      "Environment variable with a second key, for agents and trainers: it gives access to leases and rewards only"
    ),
    out: flags
      .text("out", "DIR", "Directory of the populations; existing ones are continued")
      .pipe(Flag.withDefault("served")),
    database: flags.optionalText(
      "database",
      "URL",
      "PostgreSQL instead of --out, such as postgres://user@host/database; of several servers on it, one is active, and the others forward requests and take over if it fails"
    ),
    databasePasswordEnv: flags.optionalText(
      "database-password-env",
      "NAME",
      "Environment variable with the password of the database"
    ),
    advertise: flags.optionalText(
      "advertise",
      "URL",
      "URL at which the other servers on the database reach this one, if it is not where it listens"
    ),
    seedFile: Flag.atLeast(
      flags.text(
        "seed-file",
        "FILE",
        "File with the seed of a population that is named after the file; may be repeated"
      ),
      0
    ),
    upstream: flags.optionalText(
      "upstream",
      "URL",
      "Language model to forward OpenAI requests to, such as https://api.openai.com/v1; {{inspo:NAME}} in a system prompt is replaced by the leased instruction"
    ),
    upstreamKeyEnv: flags.optionalText(
      "upstream-key-env",
      "NAME",
      "Environment variable with the upstream's key; without it, the caller's key is forwarded"
    ),
    upstreamTimeout: flags
      .integer("upstream-timeout", "How long the upstream may send nothing, before its answer and within it", "SECONDS")
      .pipe(Flag.withDefault(600)),
    json: flags.json
  },
  handler(async () => (await import("../serve/Serve.ts")).serve)
).pipe(
  flags.help({
    short: "Lease evolving instructions to agents and trainers",
    description:
      "Lease evolving instructions to agents and training loops and learn from their rewards, until Ctrl-C. Without " +
      "a config and seed files it creates a population named default",
    examples: {
      "inspo serve": "On http://127.0.0.1:8700, with a population named default",
      "inspo serve --seed-file support.txt": "A population named support whose seed is that text",
      "inspo serve populations.yaml --host 0.0.0.0 --api-key-env INSPO_KEY": "For other machines, which send the key"
    }
  })
)
