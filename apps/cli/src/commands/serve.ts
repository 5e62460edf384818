import { Argument, Command, Flag } from "effect/cli"
import * as flags from "./flags.ts"
import { handler } from "./handler.ts"

export const serve = Command.make(
  "serve",
  {
    config: Argument.String("config").pipe(
      Argument.withDescription("YAML or JSON with populations by name, each with its seed and settings"),
      Argument.optional
    ),
    ...flags.address(8700, "Authorization: Bearer KEY"),
    leaseKeyEnv: Flag.String("lease-key-env").pipe(
      Flag.withMetavar("NAME"),
      Flag.withDescription(
        "Environment variable with a second key, for agents and trainers: it reaches leases and rewards alone"
      ),
      Flag.optional
    ),
    out: Flag.String("out").pipe(
      Flag.withMetavar("DIR"),
      Flag.withDescription("Directory in which populations are kept; taken up again where there are some"),
      Flag.withDefault("served")
    ),
    database: Flag.String("database").pipe(
      Flag.withMetavar("URL"),
      Flag.withDescription(
        "PostgreSQL in place of --out, such as postgres://user@host/database: of several servers on it one is active and the others pass requests on and take over"
      ),
      Flag.optional
    ),
    databasePasswordEnv: Flag.String("database-password-env").pipe(
      Flag.withMetavar("NAME"),
      Flag.withDescription("Environment variable with the password of the database"),
      Flag.optional
    ),
    advertise: Flag.String("advertise").pipe(
      Flag.withMetavar("URL"),
      Flag.withDescription("Where the other servers on the database reach this one, if not where it listens"),
      Flag.optional
    ),
    seedFile: Flag.String("seed-file").pipe(
      Flag.withMetavar("FILE"),
      Flag.withDescription("Text to make a population of that is called as the file is; may be repeated"),
      Flag.atLeast(0)
    ),
    upstream: Flag.String("upstream").pipe(
      Flag.withMetavar("URL"),
      Flag.withDescription(
        "Language model to pass OpenAI's requests on to, such as https://api.openai.com/v1; {{inspo:NAME}} in a system prompt becomes the leased instruction"
      ),
      Flag.optional
    ),
    upstreamKeyEnv: Flag.String("upstream-key-env").pipe(
      Flag.withMetavar("NAME"),
      Flag.withDescription("Environment variable with the key that it takes; without it the caller's own is passed on"),
      Flag.optional
    ),
    upstreamTimeout: Flag.Int("upstream-timeout").pipe(
      Flag.withMetavar("SECONDS"),
      Flag.withDescription("How long the upstream may say nothing, before its answer and within it"),
      Flag.withDefault(600)
    ),
    json: flags.json
  },
  (input) =>
    handler(
      () => import("../serve/Serve.ts"),
      ({ serve }) => serve(input)
    )
).pipe(
  Command.withDescription(
    "Lease evolving instructions to agents and training loops and learn from their rewards, until Ctrl-C. Without " +
      "anything it makes a population called default"
  ),
  Command.withShortDescription("Lease evolving instructions to agents and trainers"),
  Command.withExamples([
    { command: "inspo serve", description: "On http://127.0.0.1:8700, with a population called default" },
    { command: "inspo serve --seed-file support.txt", description: "A population support that begins with that text" },
    {
      command: "inspo serve populations.yaml --host 0.0.0.0 --api-key-env INSPO_KEY",
      description: "For other machines, which bring the key"
    }
  ])
)
