/** Processes that crash at named points, in a world that remembers what reached it. */
import { EventLog, run, type Algorithm, type RunEvent, Strategies } from "@inspo/coevolution"
import { type CheckpointRef, type Engine, EngineError } from "@inspo/engine"
import { Journal } from "@inspo/journal"
import { layerMemory } from "@inspo/journal/sqlite"
import {
  type InitialRequest,
  Learners,
  type ModelAnswer,
  type ModelCall,
  type Proposal,
  Proposer,
  ProposerError
} from "@inspo/reflection"
import { type JudgeModel, JudgeModels } from "@inspo/reward"
import { Context, Effect, Exit, Hash, Layer } from "effect"
import { make } from "./ScriptedRun.ts"

/** A point at which a process reaches the outside: just before, or when the outside has done it. */
export type Point = `${"before" | "after"} ${string}`

/** What outlives a process. */
export interface World {
  readonly journal: Journal.Interface
  /** Policies, by the uri of their checkpoint. */
  readonly saved: Map<string, string>
  /** How often the proposer was asked, by request and attempt. */
  readonly asked: Map<string, number>
  /** How often a turn was sampled, by policy and request. */
  readonly sampled: Map<string, number>
}

/** What a run came to. */
export interface Ended {
  readonly events: ReadonlyArray<RunEvent>
  readonly saved: ReadonlyMap<string, string>
}

export const makeWorld = Effect.gen(function* () {
  const journal = Context.get(yield* Layer.build(Layer.fresh(layerMemory)), Journal)
  return { journal, saved: new Map(), asked: new Map(), sampled: new Map() } satisfies World
})

/**
 * One process: goes on from where the journal stands until the run has ended, or until the first point where it crashes,
 * after which it reaches nothing any more; null then.
 *
 * Its policy is the history of its updates: what it samples depends on all of them, and a checkpoint holds them. The
 * proposer's first answer to a request is of no use, the second one is.
 */
export const live = Effect.fnUntraced(function* (
  settings: Algorithm,
  world: World,
  crashes: (point: Point) => boolean
) {
  let crashed = false
  const at = (point: Point) =>
    Effect.suspend(() => {
      crashed ||= crashes(point)
      return crashed ? Effect.die("the process crashed") : Effect.void
    })
  const reach: Reach = (name, doing) =>
    at(`before ${name}`).pipe(Effect.andThen(doing), Effect.tap(at(`after ${name}`)))

  const { data, services } = yield* make(settings, undefined, (engine) => remembering(engine, world, reach))
  const exit = yield* run({ algorithm: settings, data, code: "test", onEvent: () => Effect.void }).pipe(
    Effect.provide(
      Layer.mergeAll(
        services,
        Strategies.layer(settings),
        Layer.succeed(Journal, reached(world.journal, reach)),
        Learners.fromConfig(settings.proposer.kind) === undefined
          ? Layer.succeed(Proposer, secondTry(world, reach))
          : Layer.effect(Proposer, Effect.map(Effect.provide(Proposer, services), reaching(world, reach)))
      )
    ),
    Effect.provideService(JudgeModels, () => Effect.succeed(judge(reach))),
    Effect.exit
  )
  if (crashed) return null
  if (Exit.isFailure(exit)) return yield* Effect.failCause(exit.cause)
  return { events: yield* EventLog.read(world.journal), saved: world.saved } satisfies Ended
})

/** Does something outside of the process, unless it crashes before; it may crash after. */
type Reach = <A, E, R>(name: string, doing: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>

const count = (counts: Map<string, number>, key: string): void => {
  counts.set(key, (counts.get(key) ?? 0) + 1)
}

const remembering = (engine: Engine.Interface, { sampled, saved }: World, reach: Reach): Engine.Interface => {
  let policy = "initial"
  let held: string | null = null
  return {
    ...engine,
    sample: (requests) =>
      Effect.suspend(() => {
        const from = held ?? policy
        for (const { prompt, seed } of requests) count(sampled, `${from} ${seed} ${prompt.join()}`)
        return engine.sample(requests.map((request) => ({ ...request, seed: `${request.seed} ${from}` })))
      }),
    train: (request) =>
      reach(
        `train ${request.key}`,
        Effect.tap(engine.train(request), () =>
          Effect.sync(() => (policy = String(Hash.string(`${policy} ${JSON.stringify(request)}`))))
        )
      ),
    save: (name) =>
      reach(
        `save ${name}`,
        Effect.sync((): CheckpointRef => {
          saved.set(name, policy)
          return { uri: name, hash: policy }
        })
      ),
    restore: ({ hash, uri }) =>
      reach(
        `restore ${uri}`,
        Effect.suspend(() => {
          const found = saved.get(uri)
          if (found !== hash)
            return Effect.fail(
              new EngineError({ operation: "restore", reason: `${uri} holds ${found}, expected ${hash}` })
            )
          policy = found
          return Effect.void
        })
      ),
    remove: ({ uri }) => reach(`remove ${uri}`, Effect.asVoid(Effect.sync(() => saved.delete(uri)))),
    hold: Effect.acquireRelease(
      Effect.sync(() => void (held = policy)),
      () => Effect.sync(() => void (held = null))
    )
  }
}

const reached = (journal: Journal.Interface, reach: Reach): Journal.Interface => ({
  ...journal,
  append: (events) =>
    reach(`append ${events.map(({ step, type }) => `${type} ${step}`).join()}`, journal.append(events)),
  putRecords: (kind, step, rows) =>
    reach(`put ${kind} ${rows.map(({ key }) => key).join()}`, journal.putRecords(kind, step, rows)),
  reserve: (entries) => reach(`reserve ${entries.map(({ key }) => key).join()}`, journal.reserve(entries)),
  settle: (settlements) => reach("settle", journal.settle(settlements)),
  charge: (entry) => reach("charge", journal.charge(entry))
})

/** A judge whose verdicts depend on what it reads. */
const judge = (reach: Reach): JudgeModel => ({
  atMost: () => ({ calls: 1, tokens: 20, usd: 0 }),
  ask: (prompt, isReadable) =>
    reach(
      `ask ${Hash.string(prompt)}`,
      Effect.sync(() => {
        const better = Hash.string(prompt) % 2 === 0 ? "first" : "second"
        // A score for each criterion that the prompt lists.
        const scores = Array.from(prompt.matchAll(/^\d+\. /gmu), (_, at) => Hash.string(`${prompt} ${at}`) & 1)
        const criterion = `<merit weight="2">It is brief, as ${Hash.string(prompt)} says.</merit>`
        const text = `<critical>1</critical> <better>${better}</better> ${criterion} <scores>${scores.join(", ")}</scores>`
        return { text: isReadable(text) ? text : null, spent: { calls: 1, tokens: 10, usd: 0 } }
      })
    )
})

/** A proposer that reaches its model outside of the process. */
const reaching =
  ({ asked }: World, reach: Reach) =>
  ({ initial, propose }: Proposer.Interface): Proposer.Interface => {
    const outside = <E, R extends InitialRequest<E>>({ makeCall = (_, ask) => ask, ...request }: R) => ({
      ...request,
      makeCall: (call: ModelCall, ask: Effect.Effect<ModelAnswer, ProposerError>) =>
        makeCall(
          call,
          reach(
            `ask ${call.key}`,
            Effect.tap(ask, () => Effect.sync(() => count(asked, call.key)))
          )
        )
    })
    return { initial: (request) => initial(outside(request)), propose: (request) => propose(outside(request)) }
  }

/** A proposer whose model writes something at the second attempt only. */
const secondTry = ({ asked }: World, reach: Reach): Proposer.Interface => {
  const attempts = new Map<string, number>()
  const propose = Effect.fnUntraced(function* <E>({
    count: wanted,
    makeCall = (_, ask) => ask,
    parent,
    stream
  }: InitialRequest<E>): Effect.fn.Return<Proposal, ProposerError | E> {
    const key = stream.join("/")
    count(attempts, key)
    const attempt = attempts.get(key)
    const answer: ModelAnswer = {
      text: attempt === 1 ? "" : `Reply with the name only, as ${key} asks.`,
      end: "done",
      spent: { calls: 1, tokens: 10, usd: 0 }
    }
    const asking = Effect.sync(() => {
      count(asked, `${key} ${attempt}`)
      return answer
    })
    const { spent, text } = yield* makeCall(
      { key, atMost: { calls: 1, tokens: 20, usd: 0 } },
      reach(`ask ${key} ${attempt}`, asking)
    )
    if (text === "")
      return yield* new ProposerError({ proposer: "second try", reason: "nothing was written", kind: "empty" })
    const candidates = Array.from({ length: wanted }, (_, index) => ({
      text: `${parent.text} ${text} (${index})`,
      rationale: "to be tried"
    }))
    return { critique: text, candidates, spent }
  })
  return { initial: propose, propose }
}
