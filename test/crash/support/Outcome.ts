import { readFile } from "node:fs/promises"
import { join } from "node:path"
import * as NodeServices from "@effect/platform-node/NodeServices"
import { fold, makeDecisionContext, next, type RunEvent, RunState, StateHash, Strategies } from "@inspo/coevolution"
import { Effect } from "effect"
import { loadData } from "../../../apps/cli/src/config/Data.ts"
import { readRun } from "../../../apps/cli/src/runDirectory/Read.ts"

/** What must not depend on how often a run was killed. */
export interface Outcome {
  readonly events: ReadonlyArray<RunEvent>
  readonly stateHash: string
  readonly metrics: string
  readonly candidates: string
  readonly traces: string
  readonly bestInstruction: string
}

/** The outcome of a finished run. */
export const outcomeOf = async (directory: string): Promise<Outcome> => {
  const { events, state } = await Effect.runPromise(stateOf(directory))
  const [metrics = "", candidates = "", traces = "", bestInstruction = ""] = await Promise.all(
    ["metrics.jsonl", "candidates.json", "traces.jsonl", "best_instruction.txt"].map((name) =>
      readFile(join(directory, name), "utf8")
    )
  )
  return {
    // Where a checkpoint lies differs between servers, and the code may be edited while this runs.
    events: events.map((event) => {
      if (event._tag === "CheckpointSaved") return { ...event, checkpoint: { ...event.checkpoint, uri: "" } }
      return event._tag === "RunStarted" ? { ...event, code: "" } : event
    }),
    stateHash: await Effect.runPromise(StateHash.of(state)),
    metrics,
    candidates,
    traces,
    bestInstruction
  }
}

/** The events that a run has committed so far: none where there is no run yet. */
export const eventsOf = (directory: string): Promise<ReadonlyArray<RunEvent>> =>
  Effect.runPromise(
    readRun(directory).pipe(
      Effect.map(({ events }) => events),
      Effect.orElseSucceed(() => []),
      Effect.provide(NodeServices.layer)
    )
  )

/** What a killed run was about to do or was doing, by its journal: the tag of the next command, or `nothing`. */
export const interrupted = (directory: string): Promise<string> =>
  Effect.runPromise(
    Effect.map(stateOf(directory), ({ context, state }) => {
      if (!RunState.isRunning(state)) return "nothing"
      const command = next(context, state)
      return command._tag === "Record" ? command.event._tag : command._tag
    }).pipe(Effect.orElseSucceed(() => "start"))
  )

const stateOf = (directory: string) =>
  Effect.gen(function* () {
    const { config, events } = yield* readRun(directory)
    const { data } = yield* loadData(config)
    const context = makeDecisionContext(Strategies.deciding(config), data)
    return { events, context, state: fold(context, events) }
  }).pipe(Effect.provide(NodeServices.layer))
