import { assert, describe, it } from "@effect/vitest"
import type { PopulationEvent } from "@inspo/cohorts"
import {
  type DecisionContext,
  type RunEvent,
  type RunState,
  Strategies as RunStrategies,
  makeDecisionContext
} from "@inspo/coevolution"
import type { Population } from "@inspo/population"
import { QuestionStream } from "@inspo/sampler"
import { Array as Arr, Effect, Option } from "effect"
import { make, runOn } from "../../coevolution/test/support/ScriptedRun.ts"
import { layerMemory } from "../../journal/src/sqlite.ts"
import { configs, type Decision, decisionOf, settingsOf } from "./support/OfRun.ts"
import { Server } from "./support/Server.ts"

type Step = Extract<RunEvent, { readonly _tag: "StepPlanned" }>
type Collected = Extract<RunEvent, { readonly _tag: "RolloutsCollected" }>

/** Plays the questions, proposals and rewards of a run to a population, and compares what both decide. */
class Follower {
  readonly server: Server
  readonly context: DecisionContext
  #compared: Record<string, number> = {}
  #events: ReadonlyArray<PopulationEvent> = []

  constructor(context: DecisionContext, contents: Arr.NonEmptyReadonlyArray<string>) {
    const [first, ...others] = contents
    this.context = context
    this.server = new Server(settingsOf(context.algorithm), [first, ...others])
  }

  get compared(): Readonly<Record<string, number>> {
    return this.#compared
  }

  follow(event: RunEvent): void {
    switch (event._tag) {
      case "StepPlanned":
        return this.#plan(event)
      case "RolloutsCollected":
        return this.#report(event)
      case "CandidatesProposed": {
        const { candidates, failures, parent } = event
        const reflected = failures.flatMap((id) => this.#questions.get(id) ?? [])
        return this.#hear({ _tag: "Propose", now: 0, parent, candidates, reflected })
      }
      case "EvolutionSkipped":
        return this.#hear({ _tag: "SkipEvolution", now: 0, reason: event.reason })
      default:
        return this.#same(decisionOf(event))
    }
  }

  /** Compares I*. */
  compareBest({ population }: RunState.RunState): void {
    const { best } = this.server.strategies.valuation
    const id = ({ instruction }: Population.Member) => instruction.id
    assert.deepEqual(Option.map(best(this.server.state.learning.population), id), Option.map(best(population), id))
    this.#count("I*")
  }

  readonly #questions = new Map<string, Step["questions"][number]>()
  #leases = new Map<string, string>()

  #plan(plan: Step): void {
    const { algorithm, questions } = this.context
    const { batchSize } = algorithm.train
    const batch = QuestionStream.batch({
      seed: algorithm.randomSeed,
      step: plan.step,
      batchSize,
      size: questions.length
    })
    const { answer, events } = this.server.do({
      _tag: "Lease",
      now: 0,
      cohort: `train/${plan.step}`,
      phase: "train",
      isFullBatch: true,
      requests: batch.flatMap((index) => {
        const question = questions[index]
        return question === undefined
          ? []
          : [
              {
                key: question.id,
                n: algorithm.rollout.groupSize,
                stratum: question.dataSource,
                sticky: null,
                question: question.id,
                instructions: 1
              }
            ]
      })
    })
    const leases = answer._tag === "Leases" ? answer.leases : []
    assert.deepEqual(
      leases.map(({ instruction, question }) => [question, instruction]),
      Arr.zip(plan.questions, plan.assignment)
    )
    const opened = events.find((event) => event._tag === "CohortOpened")
    assert.deepEqual(opened?._tag === "CohortOpened" ? opened.values : [], plan.values)
    this.#leases = new Map(leases.map(({ instruction, lease, question }) => [`${instruction} ${question}`, lease]))
    this.#count("assignments", leases.length)
  }

  #report({ groups }: Collected): void {
    const rewards = groups.flatMap(({ instructionId, questionId, rewards, trajectories }) => {
      for (const id of trajectories) this.#questions.set(id, questionId)
      const lease = this.#leases.get(`${instructionId} ${questionId}`) ?? ""
      return rewards.map((value, sample) => ({ lease, sample, value }))
    })
    const { answer, events } = this.server.do({ _tag: "Reward", now: 0, rewards })
    assert.isTrue(answer._tag === "Rewards" && answer.outcomes.every((outcome) => outcome === "accepted"))
    this.#events = events
  }

  #hear(command: Parameters<Server["do"]>[0]): void {
    this.#events = this.server.do(command).events
  }

  #count(what: string, by = 1): void {
    this.#compared = { ...this.#compared, [what]: (this.#compared[what] ?? 0) + by }
  }

  #same(expected: Decision | null): void {
    if (expected === null) return
    const made = this.#events.map(decisionOf).find((one) => one?.kind === expected.kind)
    assert.deepEqual(made, expected)
    this.#count(expected.kind)
  }
}

describe("a run driven through cohorts", () => {
  for (const [name, algorithm] of Object.entries(configs))
    it.effect(`takes the same decisions: ${name}`, () =>
      Effect.gen(function* () {
        const { data } = yield* make(algorithm)
        const context = makeDecisionContext(RunStrategies.deciding(algorithm), data)
        let follower: Follower | undefined
        yield* runOn(algorithm, layerMemory, (event, state) =>
          Effect.sync(() => {
            if (event._tag === "PopulationInitialised")
              follower = new Follower(
                context,
                Arr.map(event.instructions, ({ text }) => text)
              )
            follower?.follow(event)
            if (event._tag === "StepPlanned" || event._tag === "RunFinished") follower?.compareBest(state)
          })
        )
        const compared = follower?.compared ?? {}
        for (const what of ["Pruned", "ParentsChosen", "CandidatesJudged", "PopulationRefilled"])
          assert.isAbove(compared[what] ?? 0, 0, what)
        assert.isAbove(compared["assignments"] ?? 0, 100)
        assert.strictEqual(compared["I*"], algorithm.schedule.steps + 1)
      })
    )
})
