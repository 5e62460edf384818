import { createServer } from "node:http"
import * as NodeHttpServer from "@effect/platform-node/NodeHttpServer"
import { assert, describe, it } from "@effect/vitest"
import { Inspo, type Lease } from "@inspo/client"
import {
  type Algorithm,
  type DecisionContext,
  type RunEvent,
  Strategies as RunStrategies,
  makeDecisionContext
} from "@inspo/coevolution"
import { type Instruction, Spent } from "@inspo/domain"
import { Evolving, type Population as Wire } from "@inspo/serve"
import { layerMemory } from "@inspo/journal/sqlite"
import { Population } from "@inspo/population"
import { Proposer } from "@inspo/reflection"
import { QuestionStream } from "@inspo/sampler"
import * as SqliteStore from "@inspo/serve/store/SqliteStore"
import { layer as layerPopulations } from "@inspo/serve/live/Populations"
import * as Server from "@inspo/serve/http/Server"
import { Array as Arr, Context, Effect, Layer, Option, Schema, Struct } from "effect"
import { HttpRouter, HttpServer } from "effect/http"
import { apply, fold, PopulationEvent } from "../../packages/cohorts/src/index.ts"
import { configs, decisionOf, settingsOf } from "../../packages/cohorts/test/support/OfRun.ts"
import { make, runOn } from "../../packages/coevolution/test/support/ScriptedRun.ts"

type Collected = Extract<RunEvent, { readonly _tag: "RolloutsCollected" }>
type Planned = Extract<RunEvent, { readonly _tag: "StepPlanned" }>
type Proposed = Extract<RunEvent, { readonly _tag: "CandidatesProposed" }>

/** All that a run decided, and who was its best whenever a step was planned, and in the end. */
const played = Effect.fnUntraced(function* (
  algorithm: Algorithm,
  best: (of: Population.Contents) => Instruction.InstructionId | null
) {
  const events: Array<RunEvent> = []
  const bests: Array<Instruction.InstructionId | null> = []
  yield* runOn(algorithm, layerMemory, (event, { population }) =>
    Effect.sync(() => {
      events.push(event)
      if (event._tag === "StepPlanned" || event._tag === "RunFinished") bests.push(best(population))
    })
  )
  return { events, bests }
})

/** The instruction server at an address of its own; candidates are those that the run was proposed. */
const listening = Effect.fnUntraced(function* (proposals: ReadonlyArray<Proposed>) {
  const answer = (candidates: Proposed["candidates"]) =>
    Effect.succeed({ critique: "", spent: Spent.nothing, candidates })
  const proposer = Proposer.of({
    initial: () => answer([]),
    propose: ({ stream: [, , step, round] }) =>
      answer(proposals.find((one) => one.step === step && one.round === round)?.candidates ?? [])
  })
  const context = yield* HttpRouter.serve(Server.layer(), { disableLogger: true, disableListenLog: true }).pipe(
    Layer.provide(layerPopulations),
    Layer.provide([SqliteStore.layerMemory, Layer.succeed(Evolving.CurrentProposer, { proposer, budgetUsd: null })]),
    Layer.provideMerge(NodeHttpServer.layer(createServer, { port: 0, host: "127.0.0.1" })),
    Layer.build
  )
  const { address } = Context.get(context, HttpServer.HttpServer)
  return `http://127.0.0.1:${"port" in address ? address.port : 0}`
})

const settingsOnTheWire = (algorithm: Algorithm): Wire.GivenSettings => Struct.omit(settingsOf(algorithm), ["profile"])

const decodeEvents = Schema.decodeUnknownSync(
  Schema.Struct({ events: Schema.Array(Schema.Struct({ type: Schema.String, data: Schema.JsonObject })) })
)
const decodeEvent = Schema.decodeUnknownSync(PopulationEvent)

/** A trainer that asks a run's questions and reports its rewards; only rewards that a proposal is written from have texts. */
class Trainer {
  readonly #inspo: Inspo
  readonly #url: string
  #leases = new Map<string, Lease>()
  #withText: ReadonlyArray<string> = []
  readonly problems: Array<string> = []

  constructor(url: string) {
    this.#url = `${url}/v1/populations/policy`
    this.#inspo = new Inspo({ urls: [url], timeout: 20_000, onProblem: ({ message }) => this.problems.push(message) })
  }

  async make(contents: ReadonlyArray<string>, settings: Wire.GivenSettings): Promise<void> {
    const [seed, ...variants] = contents
    const body = JSON.stringify({ seed, variants, profile: "trainer", settings })
    const headers = { "content-type": "application/json" }
    const { status } = await fetch(this.#url, { method: "PUT", headers, body })
    assert.strictEqual(status, 201)
  }

  async plan({ assignment, questions, step }: Planned, asked: ReadonlyArray<Asked>): Promise<number> {
    const leases = await this.#inspo.leases("policy", asked, { cohort: `train/${step}`, fullBatch: true })
    assert.isEmpty(this.problems)
    const given = leases.map((lease) => [`${lease.instruction} ${lease.key.split("#")[0]}`, lease] as const)
    assert.deepEqual(
      given.map(([name]) => name).toSorted(),
      Arr.zipWith(assignment, questions, (id, question) => `${id} ${question}`).toSorted()
    )
    this.#leases = new Map(given)
    return leases.length
  }

  async report({ groups }: Collected, reflected: ReadonlySet<string>): Promise<void> {
    const withText = new Set<string>()
    for (const { instructionId, questionId, rewards, trajectories } of groups) {
      const lease = this.#leases.get(`${instructionId} ${questionId}`)
      for (const [sample, value] of rewards.entries()) {
        const isReflected = reflected.has(trajectories[sample] ?? "")
        if (isReflected) withText.add(lease?.id ?? "")
        await lease?.reward(value, { sample, ...(isReflected ? { feedback: "It failed." } : {}) })
      }
    }
    assert.strictEqual(await this.#inspo.flush(), 0)
    this.#withText = [...withText]
  }

  async log(): Promise<ReadonlyArray<PopulationEvent>> {
    const all: Array<PopulationEvent> = []
    for (;;) {
      const answer = await fetch(`${this.#url}/events?after=${all.length - 1}`)
      const { events } = decodeEvents(await answer.json())
      if (events.length === 0) return all
      all.push(...events.map(({ data, type }) => decodeEvent({ _tag: type, ...data })))
    }
  }

  /** Waits until so many proposals were handed in, and deletes the texts of their work. */
  async proposed(count: number): Promise<void> {
    const isAnswer = ({ _tag }: PopulationEvent) => _tag === "CandidatesProposed" || _tag === "EvolutionSkipped"
    while ((await this.log()).filter(isAnswer).length < count) await new Promise((done) => setTimeout(done, 5))
    for (const lease of this.#withText)
      await fetch(`${this.#url}/transcripts/${encodeURIComponent(lease)}`, { method: "DELETE" })
  }
}

type Asked = { readonly key: string; readonly n: number; readonly stratum: string }

/** The questions of a step, in the order in which the run assigns them. */
const askedIn = ({ algorithm, questions }: DecisionContext, step: number): ReadonlyArray<Asked> => {
  const { batchSize } = algorithm.train
  return QuestionStream.batch({ seed: algorithm.randomSeed, step, batchSize, size: questions.length }).flatMap(
    (index) => {
      const question = questions[index]
      return question === undefined
        ? []
        : [{ key: question.id, n: algorithm.rollout.groupSize, stratum: question.dataSource }]
    }
  )
}

/** The failures that the proposal after a step was written from. */
const reflectedAfter = (events: ReadonlyArray<RunEvent>, index: number): ReadonlySet<string> => {
  const later = events.slice(index + 1)
  const next = later.findIndex(({ _tag }) => _tag === "RolloutsCollected")
  const proposals = later.slice(0, next === -1 ? undefined : next).filter((one) => one._tag === "CandidatesProposed")
  return new Set(proposals.flatMap(({ failures }) => failures))
}

/** Who was best whenever a training cohort was opened, and in the end. */
const bestsOf = (
  log: ReadonlyArray<PopulationEvent>,
  best: (of: Population.Contents) => Instruction.InstructionId | null
): ReadonlyArray<Instruction.InstructionId | null> => {
  let state = fold(log.slice(0, 1))
  const bests: Array<Instruction.InstructionId | null> = []
  for (const event of log.slice(1)) {
    if (event._tag === "CohortOpened") bests.push(best(state.learning.population))
    state = apply(state, event)
  }
  return [...bests, best(state.learning.population)]
}

describe("a run driven through the instruction server by its client", () => {
  // With two instructions on a question a parent once has no failure in the last step: a run asks for a proposal, a server skips it.
  const comparable = Object.entries(configs).filter(([, { rollout }]) => rollout.instructionsPerQuestion !== 2)
  for (const [name, given] of comparable) {
    // What a proposal is written from is of the latest step, so that its text can be reported with its reward.
    const algorithm: Algorithm = { ...given, selection: { ...given.selection, capacitySteps: 1 } }
    it.live(`takes the same decisions: ${name}`, () =>
      Effect.gen(function* () {
        const { data } = yield* make(algorithm)
        const context = makeDecisionContext(RunStrategies.deciding(algorithm), data)
        const best = (population: Population.Contents) =>
          Option.getOrNull(Option.map(Population.compare.best(population), ({ instruction }) => instruction.id))
        const { bests, events } = yield* played(algorithm, best)
        const proposals = events.filter((event) => event._tag === "CandidatesProposed")
        const trainer = new Trainer(yield* listening(proposals))
        let leases = 0
        let answers = 0
        for (const [index, event] of events.entries()) {
          if (event._tag === "PopulationInitialised") {
            const texts = event.instructions.map(({ text }) => text)
            yield* Effect.promise(() => trainer.make(texts, settingsOnTheWire(algorithm)))
          } else if (event._tag === "StepPlanned") {
            leases += yield* Effect.promise(() => trainer.plan(event, askedIn(context, event.step)))
          } else if (event._tag === "RolloutsCollected")
            yield* Effect.promise(() => trainer.report(event, reflectedAfter(events, index)))
          else if (event._tag === "CandidatesProposed" || event._tag === "EvolutionSkipped")
            yield* Effect.promise(() => trainer.proposed(++answers))
        }
        const log = yield* Effect.promise(() => trainer.log())
        const decisions = log.map(decisionOf).filter((one) => one !== null)
        assert.deepEqual(
          decisions,
          events.map(decisionOf).filter((one) => one !== null)
        )
        assert.includeMembers(
          decisions.map(({ kind }) => kind),
          ["Pruned", "ParentsChosen", "CandidatesJudged", "PopulationRefilled"]
        )
        assert.deepEqual(bestsOf(log, best), bests)
        assert.isAbove(leases, 100)
      }).pipe(Effect.scoped)
    )
  }
})
