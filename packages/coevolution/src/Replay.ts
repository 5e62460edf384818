import { type Instruction, Invariant, Spent } from "@inspo/domain"
import { Engine, EngineError, withoutTokens } from "@inspo/engine"
import { Journal } from "@inspo/journal"
import { Proposer, type ProposerFailure } from "@inspo/reflection"
import { JudgeModels, RewardError } from "@inspo/reward"
import { type Agent, Agents, Rollout, RolloutError } from "@inspo/rollout"
import { Array, Effect, Layer, Predicate, Ref, Schema } from "effect"
import { Digest } from "effect/crypto"
import { apply } from "./Apply.ts"
import type { Algorithm } from "./Algorithm.ts"
import type { Entry } from "./EventLog.ts"
import * as Counterfactual from "./internal/perform/Counterfactual.ts"
import { next } from "./Next.ts"
import * as Perform from "./Perform.ts"
import { makeDecisionContext } from "./Run.ts"
import { type RunData, RunMismatch } from "./RunData.ts"
import { RunEvent } from "./RunEvent.ts"
import { isRunning, type RunState, unstarted } from "./RunState.ts"
import * as StateHash from "./StateHash.ts"
import * as Strategies from "./Strategies.ts"

/** The result of replaying a run. */
export interface Replayed {
  /** Events that are equal to the committed ones. */
  readonly events: number
  /** State hashes that are equal to the committed ones, and events without one or with one of another version. */
  readonly hashes: { readonly equal: number; readonly other: number }
  readonly state: RunState
  readonly stateHash: string
  /** The first difference. */
  readonly difference: Difference | null
}

/** Where a replay differs from the record. `path` is that of the value; `state` is the hash of the complete state. */
export interface Difference {
  readonly sequence: number
  readonly event: RunEvent["_tag"]
  readonly step: number
  readonly path: string
  readonly recorded: string
  readonly replayed: string
}

/**
 * Replays a run from its journal alone: decisions by `next`, rollouts, batches, scores and replies of judges from the records,
 * answers of the engine and the proposer from the events. Each event and each state hash is compared with the committed one, up to the
 * first difference. Calls no engine, proposer or tool, and writes nothing. Fails with `RunMismatch` unless the strategies are
 * those of the run. `agent` is the agent of the run, by default that of its config.
 */
export const replay = Effect.fn("Replay.replay")(function* (options: {
  readonly algorithm: Algorithm
  readonly data: RunData
  readonly entries: ReadonlyArray<Entry>
  readonly agent?: Agent
}) {
  const { algorithm, data, entries } = options
  const { agent = Agents.fromConfig(algorithm.rollout) } = options
  const strategies = yield* Strategies.fromContext
  const context = makeDecisionContext({ algorithm, strategies }, data)
  const current = yield* Ref.make<RunEvent | null>(null)
  const { perform } = yield* Perform.make(context, data, { maxFailedShare: 1 }).pipe(
    Effect.provide(Layer.mergeAll(layerRecorded(current, agent), layerReadOnly, Digest.layerWebCrypto))
  )
  const [first] = entries
  if (first?.event._tag === "RunStarted") {
    const other = Strategies.difference(first.event.strategies, Strategies.identities(strategies))
    if (other !== null)
      return yield* new RunMismatch({
        reason: `${other}; replay it in a program that provides the original one`
      })
  }

  let state = unstarted
  let stateHash = yield* StateHash.of(state)
  const hashes = { equal: 0, other: 0 }
  const report = (events: number, difference: Difference | null): Replayed => ({
    events,
    hashes,
    state,
    stateHash,
    difference
  })

  for (const [sequence, { event, state: committed }] of entries.entries()) {
    const difference = (found: Found): Difference => ({
      sequence,
      event: event._tag,
      step: "step" in event ? event.step : state.step,
      ...found
    })
    if (sequence > 0) {
      if (!isRunning(state))
        return report(sequence, difference({ path: "", recorded: event._tag, replayed: "the end of the run" }))
      const command = next(context, state)
      yield* Ref.set(current, event)
      const produced = yield* Effect.result(
        Effect.gen(function* () {
          return yield* throughJson(yield* perform(command, state))
        })
      )
      if (produced._tag === "Failure")
        return report(sequence, difference({ path: "", recorded: event._tag, replayed: produced.failure.message }))
      const found = firstDifference(yield* throughJson(event), produced.success, "")
      if (found !== null) return report(sequence, difference(found))
    }
    state = apply(context, state, event)
    stateHash = yield* StateHash.of(state)
    if (committed !== null && StateHash.differ(committed, stateHash))
      return report(sequence, difference({ path: "state", recorded: committed, replayed: stateHash }))
    if (committed === stateHash) hashes.equal += 1
    else hashes.other += 1
  }
  return report(entries.length, null)
})

type Found = Pick<Difference, "path" | "recorded" | "replayed">

const encode = Schema.encodeEffect(RunEvent)

const throughJson = (event: RunEvent): Effect.Effect<unknown, Schema.SchemaError> =>
  Effect.map(encode(event), (encoded): unknown => JSON.parse(JSON.stringify(encoded)))

const firstDifference = (recorded: unknown, replayed: unknown, path: string): Found | null => {
  if (Predicate.isObjectKeyword(recorded) && Predicate.isObjectKeyword(replayed)) {
    const keys = new Set([...Object.keys(recorded), ...Object.keys(replayed)])
    for (const key of keys) {
      const place = path === "" ? key : `${path}.${key}`
      const found = firstDifference(Reflect.get(recorded, key), Reflect.get(replayed, key), place)
      if (found !== null) return found
    }
    return null
  }
  return recorded === replayed ? null : { path, recorded: show(recorded), replayed: show(replayed) }
}

const show = (value: unknown): string => {
  const text = value === undefined ? "nothing" : JSON.stringify(value)
  return text.length > 200 ? `${text.slice(0, 200)} …` : text
}

/** The answers of external services, from the event that is replayed; all other calls fail. */
const layerRecorded = (current: Ref.Ref<RunEvent | null>, agent: Agent) =>
  Layer.mergeAll(
    Layer.effect(Engine, recordedEngine(current)),
    Layer.succeed(Proposer, recordedProposer(current)),
    Layer.succeed(JudgeModels, judgesOnRecord),
    Layer.succeed(
      Counterfactual.Recorded,
      Effect.map(Ref.get(current), (event) => (event?._tag === "TrainingPlanned" ? (event.findings ?? null) : null))
    ),
    Layer.succeed(
      Rollout,
      Rollout.of({
        agent,
        collect: (episodes) =>
          Array.match(episodes, {
            onEmpty: () => Effect.succeed([]),
            onNonEmpty: ([{ id }]) =>
              Effect.fail(
                new RolloutError({ field: `trajectory ${id}`, value: "missing", expected: "a record of the journal" })
              )
          })
      })
    )
  )

/** Judges whose replies are all on record. */
const judgesOnRecord = (reward: string) =>
  Effect.succeed({
    atMost: () => Spent.nothing,
    ask: () => Effect.fail(new RewardError({ reward, reason: "the journal does not contain this reply of its judge" }))
  })

const recordedEngine = Effect.fnUntraced(function* (current: Ref.Ref<RunEvent | null>) {
  const trained = yield* Ref.make<{ readonly event: RunEvent | null; readonly updates: number }>({
    event: null,
    updates: 0
  })
  const refuse = (operation: EngineError["operation"]) =>
    Effect.fail(new EngineError({ operation, reason: "the journal does not contain the answer to this call" }))

  const train = Effect.gen(function* () {
    const event = yield* Ref.get(current)
    const { updates } = yield* Ref.updateAndGet(trained, (before) => ({
      event,
      updates: before.event === event ? before.updates + 1 : 1
    }))
    const metrics = event?._tag === "StepTrained" ? event.metrics[updates - 1] : undefined
    return metrics ?? (yield* refuse("train"))
  })

  return Engine.of({
    profile: {
      name: "recorded",
      model: "recorded",
      parameters: 0,
      contextLength: Number.MAX_SAFE_INTEGER,
      concurrency: 1,
      deterministic: true,
      fingerprint: "recorded"
    },
    tokenizer: withoutTokens,
    sample: () => refuse("sample"),
    train: () => train,
    score: () => refuse("score"),
    save: () =>
      Effect.flatMap(Ref.get(current), (event) =>
        event?._tag === "CheckpointSaved" ? Effect.succeed(event.checkpoint) : refuse("save")
      ),
    restore: () => Effect.void,
    remove: () => Effect.void,
    hold: Effect.void,
    isRecorded: true
  })
})

const recordedProposer = (current: Ref.Ref<RunEvent | null>): Proposer["Service"] => {
  const answer = Effect.map(Ref.get(current), (event) => {
    const spent = { calls: 0, tokens: 0, usd: 0 }
    const written = (text: string): Instruction.Candidate => ({ text, rationale: "" })
    if (event?._tag === "CandidatesProposed")
      return {
        ...failureOf(event),
        critique: event.critique,
        candidates: [...event.candidates, ...event.rejected.map(({ text }) => written(text))],
        ...(event.notes === undefined ? {} : { notes: event.notes }),
        spent
      }
    if (event?._tag === "PopulationInitialised")
      return {
        ...failureOf(event),
        critique: "",
        candidates: event.instructions.filter(({ parent }) => parent !== null).map(({ text }) => written(text)),
        spent
      }
    return { critique: "", candidates: [], spent }
  })
  return Proposer.of({ propose: () => answer, initial: () => answer })
}

const failureOf = ({ failure }: { readonly failure?: ProposerFailure }) => (failure === undefined ? {} : { failure })

/** The records of a journal, read-only; each batch is read once, although a step needs it twice. */
const layerReadOnly = Layer.effect(
  Journal,
  Effect.gen(function* () {
    const journal = yield* Journal
    const last = yield* Ref.make<ReadonlyMap<string, Schema.Json>>(new Map())
    return Journal.of({
      ...journal,
      getRecords: Effect.fnUntraced(function* (kind, keys) {
        const known = yield* Ref.get(last)
        const name = (key: string) => `${kind} ${key}`
        if (keys.every((key) => known.has(name(key))))
          return new Map(keys.map((key) => [key, Invariant.get(known, name(key), "record")]))
        const found = yield* journal.getRecords(kind, keys)
        yield* Ref.set(last, new Map([...found].map(([key, value]) => [name(key), value])))
        return found
      }),
      append: () => Effect.void,
      putRecords: () => Effect.void,
      charge: () => Effect.void,
      reserve: (entries) => Effect.succeed(entries.map((_, index) => index)),
      settle: () => Effect.void,
      ledger: Effect.succeed([])
    })
  })
)
