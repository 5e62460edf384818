import { assert, describe, it } from "@effect/vitest"
import { type Algorithm, EventLog, Replay, scopeOf, Strategies } from "@inspo/coevolution"
import { Journal } from "@inspo/journal"
import { layerMemory } from "@inspo/journal/sqlite"
import { Ledger } from "@inspo/ledger"
import { Proposer, type ProposeRequest } from "@inspo/reflection"
import { Spent } from "@inspo/domain"
import { ActionParser, type Agent, ToolLoop } from "@inspo/rollout"
import { Effect, Fiber, Layer } from "effect"
import { algorithm, make, type Replaced, runOn } from "./support/ScriptedRun.ts"

/** An agent that searches, under a config that names one that does not. */
const own: Agent = {
  name: "own",
  tools: () => ["search"],
  answerScope: "searchr1",
  maximumTokens: () => 12_345,
  make: (environment) => ToolLoop.loop(environment, { maxTurns: 3, grammar: () => ActionParser.grammar(["search"]) })
}

const configured: Algorithm["rollout"] = { ...algorithm.rollout, agent: { name: "direct" }, tools: [] }
const settings: Algorithm = { ...algorithm, rollout: configured }

const go = (replaced: Replaced) =>
  Effect.flatMap(Journal, (journal) =>
    runOn(settings, Layer.succeed(Journal, journal), undefined, { rollout: { agent: own }, ...replaced })
  )

describe("an agent of one's own", () => {
  it.effect("has its own bound of tokens in the ledger", () =>
    Effect.gen(function* () {
      yield* go({ meddle: () => ({ search: () => Effect.interrupt }) }).pipe(
        Effect.forkChild,
        Effect.flatMap(Fiber.await)
      )
      const { open } = yield* Effect.flatMap(Journal, (journal) => Effect.map(journal.ledger, Ledger.summarize))
      assert.isAbove(open.rollouts, 0)
      assert.strictEqual(open.tokens, open.rollouts * 12_345)
    }).pipe(Effect.provide(layerMemory, { local: true }))
  )

  it.effect("has its own tags in rules and protocol, also in a replay", () =>
    Effect.gen(function* () {
      const seen: Array<ProposeRequest<unknown>> = []
      const text = "Give the name only, in <answer> and </answer>."
      const propose = <E>(request: ProposeRequest<E>) =>
        Effect.sync(() => {
          seen.push(request)
          return { critique: "", candidates: [{ text, rationale: "" }], spent: Spent.nothing }
        })
      const proposer = Layer.succeed(Proposer, {
        initial: () => Effect.succeed({ critique: "", candidates: [], spent: Spent.nothing }),
        propose
      })
      yield* go({ proposer })
      assert.isNotEmpty(seen)
      for (const { protocol } of seen)
        assert.deepStrictEqual(protocol, { actions: ["search", "answer"], readsTags: true })
      const entries = yield* Effect.flatMap(Journal, (journal) => EventLog.readEntries(journal))
      const rejected = entries.flatMap(({ event }) => (event._tag === "CandidatesProposed" ? event.rejected : []))
      assert.isNotEmpty(rejected)
      const { data } = yield* make(settings)
      const replayed = yield* Effect.provide(
        Replay.replay({ algorithm: settings, data, entries, agent: own }),
        Strategies.layer(settings)
      )
      assert.isNull(replayed.difference)
    }).pipe(Effect.provide(layerMemory, { local: true }))
  )

  it("has its own scope of the answer, which a program that scores does not take", () => {
    const scope = (kind: Algorithm["reward"]["kind"]) =>
      scopeOf({ rollout: configured, reward: { ...settings.reward, kind } }, own)
    assert.deepStrictEqual(
      [scope({ name: "em" }), scope({ name: "command", command: ["true"] })],
      ["searchr1", "response"]
    )
  })
})
