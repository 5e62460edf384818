import { Projection } from "@inspo/analysis"
import { type RunEvent, RunEvents, type RunState, Strategies } from "@inspo/coevolution"
import { measure } from "@inspo/reward"
import { Text, percent, plural } from "@inspo/report"
import type { RunConfig } from "@inspo/config"
import { Clock, Effect, Option, Ref, Schedule, type Scope } from "effect"
import { degraded } from "../report/RunReport.ts"
import { score } from "../report/Summary.ts"
import { announce } from "../terminal/Announcement.ts"
import * as Progress from "../terminal/Progress.ts"
import type { Reporter } from "../terminal/Reporter.ts"
import { plain, view } from "../terminal/View.ts"
import type { OnEvent } from "./Execute.ts"

/** Follows a run on a reporter: the live view while it lasts, or a line per step, and what is worth announcing. */
export const watch = Effect.fnUntraced(function* (
  reporter: Reporter,
  config: RunConfig,
  past: ReadonlyArray<RunEvent>
): Effect.fn.Return<OnEvent, never, Scope.Scope | Strategies.Services> {
  const { columns } = reporter
  const { valuation } = yield* Strategies.fromContext
  const progress = yield* Ref.make(Progress.start(config, rolloutsIn(past), yield* Clock.currentTimeMillis))
  const parts = yield* Ref.make<ReadonlySet<string>>(new Set())
  const candidates = yield* Ref.make(past.reduce(Projection.tried, 0))
  const draw = Effect.flatMap(Ref.get(progress), (latest) => reporter.block(view(latest, columns)))

  if (reporter.live) {
    const tick = Effect.flatMap(Clock.currentTimeMillis, (now) => Ref.update(progress, (old) => ({ ...old, now })))
    yield* Effect.forkScoped(Effect.repeat(Effect.andThen(tick, draw), Schedule.spaced("1 second")))
    yield* Effect.addFinalizer(() => reporter.block([]))
  }

  return Effect.fnUntraced(function* (event: RunEvent, state: RunState.RunState) {
    const leader = leaderOf(valuation, state)
    const before = yield* Ref.getAndSet(parts, new Set(state.degraded.map(({ part }) => part)))
    const tried = yield* Ref.getAndUpdate(candidates, (before) => Projection.tried(before, event))
    const { evaluation, train, verification } = state.spent.rollouts
    const now = yield* Clock.currentTimeMillis
    const latest = yield* Ref.updateAndGet(progress, (old) =>
      Progress.observe(old, event, {
        leader,
        degraded: state.degraded,
        rollouts: train + verification + evaluation,
        now
      })
    )
    yield* reporter.lines([
      ...(event._tag === "StepTrained" && !reporter.live ? [plain(latest)] : []),
      // Each failure of the proposer has its own line.
      ...degraded(state.degraded.filter(({ part }) => part !== "proposer" && !before.has(part))).flatMap((line) =>
        Text.wrap(line, columns)
      ),
      ...announce(event, { leader, tried }, columns),
      ...(event._tag === "Evaluated" ? evaluated(event, measure(config.reward), columns) : [])
    ])
    if (reporter.live) yield* draw
  })
})

const leaderOf = (
  valuation: Strategies.Strategies["valuation"],
  { population }: RunState.RunState
): Progress.Leader | null =>
  Option.match(valuation.best(population), {
    onNone: () => null,
    onSome: ({ instruction, window }) => ({
      population: population.members.length,
      best: instruction,
      // Without a reward the value says how often it is drawn, not how good it is.
      value:
        window.length === 0
          ? null
          : (valuation.values(population).find(({ id }) => id === instruction.id)?.value ?? null)
    })
  })

const rolloutsIn = (events: ReadonlyArray<RunEvent>): number =>
  events.reduce(
    (total, event) =>
      total +
      (event._tag === "RolloutsCollected" || event._tag === "Validated" || event._tag === "Evaluated"
        ? (event._tag === "RolloutsCollected" ? RunEvents.askedGroups(event) : event.groups).reduce(
            (sum, { rewards }) => sum + rewards.length,
            0
          )
        : event._tag === "CandidatesVerified"
          ? event.rollouts
          : 0),
    0
  )

const evaluated = (event: Extract<RunEvent, { readonly _tag: "Evaluated" }>, name: string, columns: number) => {
  const { ci95, em, n, toolCalls } = score(event.groups)
  return Text.wrap(
    `evaluated ${event.policy} training with ${event.instruction}: ${name} ${percent(em)} ${Text.interval(ci95)} ` +
      `on ${plural(n, "question")}, ${toolCalls.toFixed(2)} tool calls each`,
    columns
  )
}
