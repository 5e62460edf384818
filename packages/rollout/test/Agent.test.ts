import { assert, describe, it } from "@effect/vitest"
import { ActionParser, type Agent, type Program } from "@inspo/rollout"
import { ByteTokenizer, ScriptedEngine } from "@inspo/rollout/testing"
import { Cause, Effect, Exit, Schema } from "effect"
import { play } from "./support/Play.ts"

const between = (minimum: number, maximum: number) => Schema.Int.check(Schema.isBetween({ minimum, maximum }))
const grammar = ActionParser.grammar(["search"])

/** What an agent may do, in any order. */
const Deed = Schema.Literals(["turn", "call", "aside", "show"])
const Deeds = Schema.Array(Deed).check(Schema.isMaxLength(12))

/** Does so after a first turn, as far as the conversation goes. */
const doing = (deeds: typeof Deeds.Type): Agent => ({
  name: "doing",
  tools: () => ["search"],
  make: () =>
    function* (conversation) {
      yield* conversation.turn(grammar)
      for (const [at, deed] of deeds.entries())
        switch (deed) {
          case "turn":
            yield* conversation.turn(grammar)
            break
          case "call":
            yield* conversation.call("search", `${at}`)
            break
          case "aside":
            yield* conversation.aside(`${at}`, [{ role: "user", content: "aside" }], ["</think>"])
            break
          case "show":
            yield* conversation.show(`</information> 😀 ${at}`)
        }
      return "answered"
    }
})

/** As long as its seed is odd. */
const script: ScriptedEngine.Script = (_, { seed }) => `<think> ${seed.repeat(seed.length % 4)}</think><search> x`

const thrown = (exit: Exit.Exit<unknown, unknown>): unknown =>
  Exit.isFailure(exit) ? exit.cause.reasons.find(Cause.isDieReason)?.defect : null

describe("An agent's program", () => {
  it.effect.prop(
    "is recorded as it went: turns as sampled, what was shown in between, nothing else, within the context",
    { deeds: Deeds, contextLength: between(60, 400), maxObservationTokens: between(2, 60) },
    ({ contextLength, deeds, maxObservationTokens }) =>
      Effect.gen(function* () {
        const { requests, trajectories } = yield* play(script, {
          options: { agent: doing(deeds) },
          config: { maxObservationTokens, maxResponseTokens: 50 },
          contextLength
        })
        const [trajectory = assert.fail()] = trajectories
        const { finishReason, logprobs, mask, prompt, response, toolCalls, transcript } = trajectory
        const turns = requests.filter(({ seed }) => /^0\/\d+$/.test(seed))
        assert.strictEqual(transcript.length, turns.length)
        // A turn is asked for with all that was said before it.
        for (const [turn, { prompt: seen }] of turns.entries())
          assert.strictEqual(
            ByteTokenizer.tokenizer.decode(seen),
            ByteTokenizer.tokenizer.decode(prompt) +
              transcript
                .slice(0, turn)
                .map(({ observation, text }) => text + (observation ?? ""))
                .join("")
          )
        const said = transcript.map(({ observation, text }) => text + (observation ?? "")).join("")
        assert.strictEqual(ByteTokenizer.tokenizer.decode(response), said)
        assert.strictEqual(
          ByteTokenizer.tokenizer.decode(response.filter((_, i) => mask[i] === 1)),
          transcript.map(({ text }) => text).join("")
        )
        assert.deepStrictEqual(
          logprobs,
          response.map((token, i) => (mask[i] === 1 ? ScriptedEngine.logprob(token) : 0))
        )
        assert.isAtMost(prompt.length + response.length, contextLength)
        const done = finishReason === "answered"
        assert.isTrue(done || finishReason === "context-exhausted")
        const count = (deed: typeof Deed.Type) => deeds.filter((one) => one === deed).length
        if (done) assert.deepStrictEqual([toolCalls, transcript.length], [count("call"), 1 + count("turn")])
      })
  )

  it.effect.prop(
    "that throws ends the collection with its stack and episode, once all that finished beside it is handed over",
    { throws: Schema.Array(Schema.Literals(["at once", "later", "never"])).check(Schema.isMaxLength(6)) },
    ({ throws }) =>
      Effect.gen(function* () {
        const bug = new TypeError("no such field")
        const agent: Agent = {
          name: "throwing",
          tools: () => [],
          make: () => (conversation) => {
            const when = throws[Number(conversation.episode.seed)]
            if (when === "at once") throw bug
            return (function* (): Program {
              yield* conversation.turn(grammar)
              if (when === "later") throw bug
              return "answered"
            })()
          }
        }
        const handed: Array<string> = []
        const exit = yield* Effect.exit(
          play(() => "<answer> x</answer>", {
            options: { agent },
            episodes: throws.length,
            onFinished: (finished) => Effect.sync(() => handed.push(...finished.map(({ id }) => id)))
          })
        )
        assert.sameMembers(
          handed,
          throws.flatMap((when, index) => (when === "never" ? [`test/${index}`] : []))
        )
        const first = throws.findIndex((when) => when !== "never")
        assert.strictEqual(Exit.isSuccess(exit), first < 0)
        if (Exit.isSuccess(exit)) return
        const defect = thrown(exit)
        assert.instanceOf(defect, Error)
        assert.strictEqual(defect.message, `agent: threw an exception in the episode test/${first}`)
        assert.strictEqual(defect.cause, bug)
      })
  )

  it.effect("cannot show anything before a turn, nor open a conversation again after one", () =>
    Effect.gen(function* () {
      const wrong: ReadonlyArray<Agent["make"]> = [
        () =>
          function* ({ show }) {
            yield* show("x")
            return "answered"
          },
        () =>
          function* ({ open, turn }) {
            yield* turn(grammar)
            open([])
            return "answered"
          }
      ]
      for (const make of wrong) {
        const exit = yield* Effect.exit(play(script, { options: { agent: { name: "wrong", tools: () => [], make } } }))
        const defect = thrown(exit)
        assert.instanceOf(defect, Error)
        assert.instanceOf(defect.cause, RangeError)
      }
    })
  )

  it.effect("calls no tool whose reply it could not show, however little room is left", () =>
    Effect.gen(function* () {
      const called: Array<number> = []
      for (const contextLength of Array.from({ length: 16 }, (_, more) => 48 + more)) {
        const { trajectories } = yield* play(() => "<search> x</search>", { contextLength })
        const { toolCalls, transcript } = trajectories[0] ?? assert.fail()
        assert.strictEqual(toolCalls, transcript.filter(({ observation }) => observation !== null).length)
        called.push(toolCalls)
      }
      assert.includeMembers(called, [0, 1])
    })
  )

  it.effect("that searches first does not search where it could not show what is found", () =>
    Effect.gen(function* () {
      for (const agent of ["rag", "ircot"] as const) {
        const queries: Array<string> = []
        const { trajectories } = yield* play(() => assert.fail("the policy was asked"), {
          config: { agent, maxPromptTokens: 40 },
          search: (asked) => {
            queries.push(...asked)
            return Effect.succeed(asked.map(() => []))
          }
        })
        assert.deepStrictEqual(queries, [])
        assert.strictEqual(trajectories[0]?.finishReason, "context-exhausted")
      }
    })
  )
})
