import { Text, labels, names, count, duration } from "@inspo/report"
import { Ledger } from "@inspo/ledger"
import { Console, Effect, Schema, Struct } from "effect"
import * as RunReport from "../report/RunReport.ts"
import { degraded, Summary } from "../report/Summary.ts"
import * as MissingTail from "../runDirectory/MissingTail.ts"
import { readResult } from "../runDirectory/Outcome.ts"
import { readLedger } from "../runDirectory/Read.ts"
import { verdict } from "@inspo/analysis"
import { announceAll } from "../terminal/Announcement.ts"
import * as Reporter from "../terminal/Reporter.ts"
import { programName } from "../Program.ts"

/** Shows what happened in a run and what it cost: the report of a finished one, else how far it is. */
export const show = Effect.fn("Show.show")(function* (directory: string) {
  const noted = yield* MissingTail.listen(directory)
  const { begun, config, events, outcome, state, summary } = yield* readResult(directory)
  const totals = begun ? yield* readLedger(directory, config) : []
  const lost = yield* MissingTail.find(directory, noted, events, totals)
  if (lost !== null) yield* Console.error(`Note: ${MissingTail.refusal(directory, lost).problem}`)
  const ledger = Ledger.summarize(totals)
  const failed = degraded(state, outcome.degraded)
  const document =
    summary === null
      ? encodeUnfinished({
          runDir: directory,
          randomSeed: config.randomSeed,
          steps: state.step,
          rollouts: state.spent.rollouts,
          ledger,
          ...failed,
          finished: false
        })
      : encodeFinished({ ...summary, ledger })
  const program = yield* programName
  yield* Reporter.print(document, (columns) => {
    const costs = costLines(ledger)
    const cost = costs.length === 0 ? [] : ["", ...costs]
    const { instructions, strategies } = state
    return [
      ...announceAll(events, columns),
      ...(summary === null
        ? [
            ...[
              `The run has finished step ${state.step} of ${config.schedule.steps}.`,
              verdict(state, labels(names(state.instructions))),
              ...RunReport.ownStrategies(config, strategies),
              ...RunReport.degraded(failed.degradations)
            ].flatMap((line) => Text.wrap(line, columns)),
            `Continue with: ${program} resume ${directory}`,
            ...cost
          ]
        : [...cost, ...RunReport.text({ summary, config, instructions, program }, columns)])
    ]
  })
})

/** What `show --json` prints of a finished run: the document of the run itself, and its ledger. */
const encodeFinished = Schema.encodeSync(Schema.Struct({ ...Summary.fields, ledger: Ledger.Summary }))

const encodeUnfinished = Schema.encodeSync(
  Schema.Struct({
    ...Struct.pick(Summary.fields, ["runDir", "randomSeed", "steps", "rollouts"]),
    ledger: Ledger.Summary,
    ...Struct.pick(Summary.fields, ["degraded", "degradations"]),
    finished: Schema.Literal(false)
  })
)

/** What a run spent, a line per phase; nothing where nothing was spent. */
export const costLines = ({ open, phases, redone, total }: Ledger.Summary): ReadonlyArray<string> =>
  phases.length === 0
    ? []
    : [
        "Cost by phase",
        ...Text.table([
          ["  phase", "rollouts", "tokens", "calls", "USD", "time"],
          ...phases.map((phase) => row(`  ${phase.phase}`, phase)),
          row("  total", total),
          ...partOf("  of which redone", redone),
          ...partOf("  of which unsettled", open)
        ])
      ]

const row = (name: string, { calls, rollouts, seconds, tokens, usd }: Ledger.Amounts): ReadonlyArray<string> => [
  name,
  count(rollouts),
  count(tokens),
  count(calls),
  usd.toFixed(2),
  duration(seconds)
]

const partOf = (name: string, amounts: Ledger.Amounts): ReadonlyArray<ReadonlyArray<string>> =>
  Object.values(amounts).every((amount) => amount === 0) ? [] : [row(name, amounts)]
