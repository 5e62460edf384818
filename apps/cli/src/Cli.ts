import { Cause, Console, Effect, Layer, Logger, Predicate } from "effect"
import { CliError, CliOutput, Command } from "effect/cli"
import { bench } from "./commands/bench.ts"
import { dashboard } from "./commands/dashboard.ts"
import { data } from "./commands/data.ts"
import { diff } from "./commands/diff.ts"
import { doctor } from "./commands/doctor.ts"
import { engine } from "./commands/engine.ts"
import { evaluate } from "./commands/eval.ts"
import { exportRun } from "./commands/export.ts"
import { fork } from "./commands/fork.ts"
import { init } from "./commands/init.ts"
import { lineage } from "./commands/lineage.ts"
import { plan } from "./commands/plan.ts"
import { replay } from "./commands/replay.ts"
import { report } from "./commands/report.ts"
import { resume } from "./commands/resume.ts"
import { retriever } from "./commands/retriever.ts"
import { run } from "./commands/run.ts"
import { score } from "./commands/score.ts"
import { show } from "./commands/show.ts"
import { whatif } from "./commands/whatif.ts"
import { CommandFailure, UsageError } from "./Failure.ts"
import * as Telemetry from "./tracking/Telemetry.ts"

export const inspo = Command.make("inspo").pipe(
  Command.withDescription("Co-evolve the instruction of an agent with the reinforcement learning of its policy"),
  Command.withSubcommands([
    init,
    plan,
    run,
    resume,
    replay,
    fork,
    lineage,
    exportRun,
    show,
    report,
    diff,
    whatif,
    evaluate,
    score,
    bench,
    dashboard,
    doctor,
    data,
    retriever,
    engine
  ])
)

/** The whole program: what goes wrong is told in one paragraph on standard error. */
export const main = Effect.suspend(() => Command.run(inspo, { version: "0.0.0" })).pipe(
  Effect.catchIf(
    (error) => CliError.isCliError(error) && error._tag === "ShowHelp",
    (error) => (error.errors.length === 0 ? Effect.void : Effect.fail(invalidInvocation(error)))
  ),
  Effect.catchCause((cause) => Effect.failCause(explain(cause))),
  Effect.tapError((error) => Console.error(`inspo: ${error.message}`)),
  Effect.provide(
    Layer.provideMerge(
      Telemetry.layer,
      Layer.mergeAll(presenter(), Logger.layer([Logger.withConsoleError(Logger.formatLogFmt)]))
    )
  )
)

/** Help is printed where it was asked for; {@link main} tells what is wrong with a command. */
function presenter() {
  return CliOutput.layerPresenter({
    present: (event) => (event._tag === "InvalidInvocation" ? Effect.void : CliOutput.defaultPresenter.present(event))
  })
}

function invalidInvocation({ commandPath, errors }: CliError.ShowHelp): UsageError {
  const problem = errors.map(({ message }) => sentence(message.replaceAll(/\s+/gu, " ").trim())).join(" ")
  return new UsageError({ problem: `${problem} See \`${commandPath.join(" ")} --help\`.` })
}

function explain<E>(cause: Cause.Cause<E>): Cause.Cause<UsageError | CommandFailure> {
  if (Cause.hasInterruptsOnly(cause)) return Cause.interrupt()
  const error = Cause.squash(cause)
  if (error instanceof UsageError || error instanceof CommandFailure) return Cause.fail(error)
  const message = error instanceof Error ? error.message : String(error)
  const problem = `${sentence(message.replaceAll(/\s+/gu, " ").trim())}${remedy(message)}`
  // Named by its tag, so that a start does not load what defines it.
  return Cause.fail(
    Predicate.isTagged(error, "ConfigError") ? new UsageError({ problem }) : new CommandFailure({ problem })
  )
}

/** What systems say in a word, and mending takes more of. */
function remedy(message: string): string {
  return /EACCES|permission ?denied/iu.test(message)
    ? " Let this user read and write there and try again; a run that has begun goes on with `inspo resume`."
    : ""
}

function sentence(text: string): string {
  return /[.?!]$/u.test(text) ? text : `${text}.`
}
