import * as Ablations from "@inspo/coevolution/Ablations"
import { flow } from "effect"
import { Argument, Command, Flag } from "effect/cli"

/** The help of a verb; `short` is its line in the list of verbs, where the description is too long for one. */
export const help =
  (texts: {
    readonly short?: string
    readonly description: string
    /** What each example does, by its command line. */
    readonly examples: Readonly<Record<string, string>>
  }) =>
  <const Name extends string, Input, E, R, ContextInput>(
    verb: Command.Command<Name, Input, ContextInput, E, R>
  ): Command.Command<Name, Input, ContextInput, E, R> =>
    verb.pipe(
      Command.withDescription(texts.description),
      Command.withShortDescription(texts.short ?? texts.description),
      Command.withExamples(Object.entries(texts.examples).map(([command, description]) => ({ command, description })))
    )

export const argument = (name: string, description: string) =>
  Argument.String(name).pipe(Argument.withDescription(description))

/** A flag with a text, which the help calls `metavar`. */
export const text = (name: string, metavar: string, description: string) =>
  Flag.String(name).pipe(Flag.withMetavar(metavar), Flag.withDescription(description))

export const integer = (name: string, description: string, metavar = "N") =>
  Flag.Int(name).pipe(Flag.withMetavar(metavar), Flag.withDescription(description))

export const number = (name: string, description: string) =>
  Flag.Finite(name).pipe(Flag.withMetavar("X"), Flag.withDescription(description))

export const choice = <const L extends ReadonlyArray<string>>(name: string, literals: L, description: string) =>
  Flag.Literals(name, literals).pipe(Flag.withDescription(description))

export const optionalText = flow(text, Flag.optional)

export const optionalInteger = flow(integer, Flag.optional)

export const optionalChoice = <const L extends ReadonlyArray<string>>(name: string, literals: L, description: string) =>
  Flag.optional(choice(name, literals, description))

export const toggle = (name: string, description: string) =>
  Flag.Boolean(name).pipe(Flag.withDescription(description), Flag.withDefault(false))

export const config = Argument.optional(argument("config", "YAML file with settings"))

export const json = toggle("json", "Print one JSON document on standard output and everything else on standard error")

export const quiet = toggle("quiet", "Print no progress")

/** Serves the page of what a command does while it does it. */
export const dashboard = (what: "run" | "search") =>
  toggle("dashboard", `Show the ${what} in a browser while it lasts; prints the address`)

export const force = toggle("force", "Write over files that exist")

export const presetName = text(
  "preset",
  "NAME",
  "Settings to start from: quick, tiny, paper, paper-7b or robust; `inspo init --list` describes them"
)

export const preset = presetName.pipe(Flag.withDefault("quick"))

export const set = Flag.atLeast(
  text("set", "KEY=VALUE", "Change one setting, such as schedule.steps=50; may be repeated"),
  0
)

/** Parts of co-evolution that are left out. */
export const ablate = Flag.Literals("ablate", Ablations.partNames).pipe(
  Flag.withDescription("Leave a part of co-evolution out, to learn what it is worth; may be repeated"),
  Flag.atLeast(0)
)

/** Consent to what the run directories of a command name. */
export const trust = toggle(
  "trust",
  "Allow the servers, programs and environment variables named in the config.json of a directory that you did not create. " +
    "Read it first; the answer is remembered until the file changes"
)

export const seed = optionalInteger("seed", "Seed of every random choice")

export const out = optionalText("out", "DIR", "New or empty directory for everything that is written")

/** Whether a run is compared with its static arm; by default as the config or the start of the run has it. */
export const baseline = Flag.Boolean("baseline").pipe(
  Flag.withDescription(
    "Compare with the static instruction at the same budget; --no-baseline skips this, also when the run is resumed"
  ),
  Flag.optional
)

/** Where a server listens; `header` is how clients send their key. */
export const address = (port: number, header: string) => ({
  port: integer("port", "Port to listen on; 0 selects a free port").pipe(Flag.withDefault(port)),
  host: text("host", "ADDRESS", "Address to listen on; one that other machines can reach needs --api-key-env").pipe(
    Flag.withDefault("127.0.0.1")
  ),
  apiKeyEnv: Flag.optional(
    text("api-key-env", "NAME", `Environment variable with the key that requests must send as ${header}`)
  ),
  trustedProxy: Flag.atLeast(
    text(
      "trusted-proxy",
      "ADDRESS",
      "Address of a reverse proxy whose X-Forwarded-For is believed, so that its clients do not share one limit; may be repeated"
    ),
    0
  )
})

/** Which trackers receive what a run measures. */
export const track = Flag.atLeast(
  text(
    "track",
    "TRACKER",
    "Send what the run measures to a tracker: tensorboard or prometheus[=PORT]; may be repeated"
  ),
  0
)

/** An agent that asks the policy. */
export const player = (name: string, description: string) =>
  optionalText(
    name,
    "AGENT",
    `${description}: a name such as direct, a program such as \`python agent.py\`, an address, ./agent.ts#run, or :PORT for workers`
  )

export const outside = {
  agent: optionalText(
    "agent",
    "AGENT",
    "Agent that answers the cases instead of a chat model: a program such as `python agent.py`, an address, ./agent.ts#run, or - " +
      "for the process that starts this one"
  ),
  workers: integer("workers", "agent: processes of a program; 1 by default").pipe(Flag.withDefault(1)),
  timeout: number("timeout", "agent: most seconds without an answer; 120 by default").pipe(Flag.withDefault(120))
}

export const scoring = {
  score: optionalChoice(
    "score",
    ["exact", "contains", "pattern", "json", "number", "judge", "command", "label"],
    "How an answer is scored by the expected one; label: the prompt is a rubric, and the cases are a file of `inspo judge` with " +
      "labels. Required without a promptfoo config"
  ),
  rubric: optionalText("rubric", "FILE", "judge: text file that says what a good answer is"),
  command: optionalText(
    "command",
    "PROGRAM",
    "command: program with its arguments, separated by spaces; it reads {output, expected, input} as JSON from standard " +
      "input, and prints a number in [0, 1] or {score, feedback}"
  ),
  tolerance: number(
    "tolerance",
    "number: largest difference from the expected number that is right; 0 by default"
  ).pipe(Flag.withDefault(0)),
  caseSensitive: toggle("case-sensitive", "exact, contains: distinguish upper and lower case"),
  input: optionalText(
    "input",
    "COLUMN",
    "Column with the user message; by default `input`, or all columns as `name: value` lines"
  ),
  expected: optionalText("expected", "COLUMN", "Column with the expected answer; `expected` by default")
}

/** What calls of models may cost, and their keys. */
export const paying = {
  budget: Flag.optional(number("budget", "Most US dollars for everything; no call starts that could pass it")),
  price: Flag.atLeast(
    text(
      "price",
      "[NAME=]IN/OUT",
      "US dollars per million tokens of input and output, of one model or of both; may be repeated"
    ),
    0
  ),
  maxTokens: integer("max-tokens", "Most tokens of one answer, thoughts included; 4096 by default").pipe(
    Flag.withDefault(4096)
  ),
  apiKeyEnv: Flag.atLeast(
    text(
      "api-key-env",
      "[URL=]NAME",
      "Environment variable with the key of the server at URL, by default that of --model; no other server gets it; may be repeated"
    ),
    0
  )
}

/** What the exit status answers. */
export const requirement = Flag.optional(
  choice(
    "require",
    ["better", "no-worse"],
    "Exit with 3 where the contrary is shown, and with 4 where neither is; with 0 if it is met"
  )
)
