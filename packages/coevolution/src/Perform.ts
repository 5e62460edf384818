import { Invariant } from "@inspo/domain"
import { Engine } from "@inspo/engine"
import { Array as Arr, Effect, Option } from "effect"
import { Bookkeeping, Ledger } from "@inspo/ledger"
import type * as Command from "./Command.ts"
import * as Checkpoints from "./internal/perform/Checkpoints.ts"
import * as Propose from "./internal/perform/Propose.ts"
import * as Rollouts from "./internal/perform/Rollouts.ts"
import * as Train from "./internal/perform/Train.ts"
import type { RunData } from "./RunData.ts"
import type { RunState } from "./RunState.ts"
import type { Deciding } from "./Strategies.ts"
import * as TrajectoryStore from "./TrajectoryStore.ts"

export { Propose, Rollouts }

/**
 * Executes a command and returns its event; makes no decisions. `state` is the state that the command was made from.
 *
 * Work that a stopped run already completed is read from the journal instead of being repeated.
 */
export const make = Effect.fnUntraced(function* (
  { algorithm, strategies }: Deciding,
  data: RunData,
  limits: TrajectoryStore.Limits
) {
  const bookkeeping = yield* Bookkeeping.make(limits.budget ?? Ledger.unlimited)
  const { check, timed } = bookkeeping
  const { hold = Effect.die(new Invariant.InvariantBroken("an engine that holds its weights")) } = yield* Engine
  const store = yield* TrajectoryStore.make(algorithm, bookkeeping, limits)
  const checkpoints = yield* Checkpoints.make()
  const { initialise, propose } = yield* Propose.make(algorithm, data, store, bookkeeping)
  const { plan, train } = yield* Train.make(algorithm, bookkeeping, data, store, strategies, checkpoints)
  const { collect, evaluate, validate, verify } = Rollouts.make(algorithm, data, store)

  /** Restores the engine to the state of the journal: the last checkpoint, then the updates after it. */
  const catchUp = Effect.fn("Perform.catchUp")(function* (state: RunState, updates: ReadonlyArray<Command.Train>) {
    const last = Arr.last(state.checkpoints)
    if (Option.isNone(last)) return
    yield* checkpoints.restore(last.value.step, state)
    yield* timed("train", Effect.forEach(updates, train, { discard: true }))
  })

  /** The update of a step while the next one is rolled out with the weights before it; whatever fails, both come to their end. */
  const overlapped = Effect.fnUntraced(function* (update: Command.Train, ahead: NonNullable<Command.Train["ahead"]>) {
    yield* hold
    const [trained, collected] = yield* Effect.all(
      [Effect.result(train(update)), Effect.result(collect(ahead, "now"))],
      { concurrency: 2 }
    )
    // The rollouts are on record, and the event of the next command has them.
    yield* Effect.fromResult(collected)
    return yield* Effect.fromResult(trained)
  }, Effect.scoped)

  const perform = (command: Command.Command, state: RunState) => {
    switch (command._tag) {
      case "Record":
        return Effect.succeed(command.event)
      case "Initialise":
        return timed("initial", initialise(command))
      case "Collect":
        return timed("train", collect(command, command.plan.policy === undefined ? "now" : "earlier"))
      case "PlanTraining":
        return timed("train", plan(command))
      case "Train":
        return timed(
          "train",
          Effect.andThen(
            check("train", Ledger.needs.time),
            command.ahead === null ? train(command) : overlapped(command, command.ahead)
          )
        )
      case "Propose":
        return timed("proposing", propose(command))
      case "Verify":
        return timed("verification", verify(command))
      case "Validate":
        return timed("validation", validate(command))
      case "Checkpoint":
        return timed("checkpoint", checkpoints.save(command))
      case "Evaluate":
        return timed(
          "evaluation",
          Effect.andThen(checkpoints.restore(command.checkpointStep, state), evaluate(command, state.step))
        )
    }
  }

  return { perform, catchUp }
})
