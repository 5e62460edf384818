import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import * as NodeServices from "@effect/platform-node/NodeServices"
import { PlainText } from "@inspo/domain"
import { Cause, Console, Effect, Layer, Logger, Option, PlatformError, Predicate } from "effect"
import { CliError, CliOutput, Command } from "effect/cli"
import { evaluate, methods } from "./commands/compare.ts"
import { compare, judge } from "./commands/gate.ts"
import { data } from "./commands/data.ts"
import { JsonLogs } from "./commands/handler.ts"
import { evolve } from "./commands/evolve.ts"
import { dashboard, exportRun, replay, show } from "./commands/look.ts"
import { serve } from "./commands/serve.ts"
import { engine, retriever } from "./commands/servers.ts"
import { doctor, init, plan, resume, run } from "./commands/start.ts"
import {
  CommandFailure,
  commandFailure,
  oneLine,
  remedy,
  systemWords,
  Unmet,
  UsageError,
  usageError
} from "./Failure.ts"
import { helpLines } from "./terminal/Help.ts"
import * as StandardStreams from "./StandardStreams.ts"
import * as Reporter from "./terminal/Reporter.ts"
import * as Telemetry from "./tracking/Telemetry.ts"
import { version } from "./Program.ts"

export const main = (): void => {
  StandardStreams.guard()
  // The first signal stops a run cleanly, the second one immediately: committed work cannot be lost.
  const signals = ["SIGINT", "SIGTERM"] as const
  let asked = false
  for (const signal of signals)
    process.on(signal, () => {
      if (asked) process.exit(130)
      asked = true
    })
  // An exit waits for the threads of open calls, so a signal must still be able to end it.
  process.on("exit", () => {
    for (const signal of signals) process.removeAllListeners(signal)
  })
  mainOf(inspo).pipe(Effect.provide(NodeServices.layer), NodeRuntime.runMain)
}

export const inspo = Command.make("inspo").pipe(
  Command.withDescription("Co-evolve the instruction of an agent with the reinforcement learning of its policy"),
  Command.withSubcommands([
    { group: "Start", commands: [doctor, evolve, init, plan, run, resume] },
    { group: "Look", commands: [show, dashboard, replay, exportRun] },
    { group: "Compare", commands: [compare, judge, evaluate, methods] },
    { group: "Connect", commands: [serve, data, retriever, engine] }
  ])
)

/** Prints help; {@link main} reports what is wrong with a command. */
const presenter = Layer.effect(
  CliOutput.Presenter,
  Effect.gen(function* () {
    const style = yield* Reporter.styleOf
    return {
      present: (event) => {
        switch (event._tag) {
          case "Help":
            return Console.log(helpLines(event.helpDoc, style).join("\n"))
          case "InvalidInvocation":
            return Effect.void
          case "Version":
            return CliOutput.defaultPresenter.present(event)
        }
      }
    }
  })
)

/** A whole program. An error is reported in one paragraph on standard error, a defect of the code with its stack. */
export const mainOf = <const Name extends string, Input, E, R, ContextInput>(
  command: Command.Command<Name, Input, ContextInput, E, R>
) =>
  Effect.suspend((): Effect.Effect<void, E | CliError.CliError | UsageError, R | Command.Environment> =>
    asksWizard() && !(process.stdin.isTTY && process.stdout.isTTY)
      ? Effect.fail(usageError("--wizard needs a terminal. Give flags instead; see --help."))
      : Command.run(command, { version })
  ).pipe(
    Effect.catchIf(isShowHelp, (error) =>
      error.errors.length === 0 ? Effect.void : Effect.flatMap(invalidInvocation(error), Effect.fail)
    ),
    Effect.catchCause((cause) =>
      Cause.hasInterruptsOnly(cause)
        ? Effect.interrupt
        : Effect.tapError(Effect.fail(explain(cause)), ({ message }) =>
            Console.error(
              PlainText.escape(`${command.name}: ${message}${Cause.hasDies(cause) ? `\n${Cause.pretty(cause)}` : ""}`)
            )
          )
    ),
    Effect.provide(
      Layer.provideMerge(Telemetry.layer, Layer.mergeAll(presenter, Logger.layer([Logger.withConsoleError(logger)])))
    )
  )

/** Without characters that a person cannot see. */
const logger = Logger.make((line) =>
  line.fiber.getRef(JsonLogs)
    ? JSON.stringify(Logger.formatStructured.log(line), (_, value: unknown) =>
        typeof value === "string" ? PlainText.escape(value) : value
      )
    : PlainText.escape(Logger.formatLogFmt.log(line))
)

const isShowHelp = (error: unknown): error is CliError.ShowHelp =>
  CliError.isCliError(error) && error._tag === "ShowHelp"

function asksWizard(): boolean {
  const [flags] = process.argv.join("\0").split("\0--\0")
  return flags?.split("\0").some((flag) => flag === "--wizard" || flag === "--wizard=true") ?? false
}

function invalidInvocation({ commandPath, errors }: CliError.ShowHelp): Effect.Effect<UsageError> {
  const takesSettings = ["plan", "run", "resume"].includes(commandPath.at(-1) ?? "")
  return Effect.forEach(errors, (error) =>
    Effect.map(
      takesSettings && error._tag === "UnrecognizedOption" && error.suggestions.length === 0
        ? settingNamed(error.option.replace(/^-+/u, ""))
        : Effect.succeed(""),
      (hint) => `${sentence(oneLine(error.message))}${hint}`
    )
  ).pipe(Effect.map((problems) => usageError(`${problems.join(" ")} See \`${commandPath.join(" ")} --help\`.`)))
}

const settingNamed = Effect.fnUntraced(function* (name: string) {
  const [{ Presets }, { leafPaths }, { nearest }] = yield* Effect.promise(() =>
    Promise.all([import("@inspo/config"), import("./config/Resolve.ts"), import("./config/Suggestion.ts")])
  )
  return Option.match(nearest(name, leafPaths(Presets.quick)), {
    onNone: () => "",
    onSome: (setting) => ` To change the setting, use --set ${setting}=VALUE.`
  })
})

function explain<E>(cause: Cause.Cause<E>): UsageError | CommandFailure | Unmet {
  const error = Cause.squash(cause)
  if (error instanceof UsageError || error instanceof CommandFailure || error instanceof Unmet) return error
  const message =
    error instanceof PlatformError.PlatformError
      ? `${error.message}: ${systemWords(error)}`
      : error instanceof Error
        ? error.message
        : String(error)
  const problem = `${sentence(oneLine(message))}${remedy(error)}`
  // Named by its tag, so that a start does not load what defines it.
  return ["ConfigError", "DatasetError", "InvalidStudy"].some((tag) => Predicate.isTagged(error, tag))
    ? usageError(problem, error)
    : commandFailure(problem, error)
}

function sentence(text: string): string {
  return /[.?!]$/u.test(text) ? text : `${text}.`
}
