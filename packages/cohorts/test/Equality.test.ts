import { assert, describe, it } from "@effect/vitest"
import { type EventOf, type PopulationEvent, Settings, Strategies } from "@inspo/cohorts"
import {
  makeSetting,
  Strategies as RunStrategies,
  type RunConfig,
  type RunEvent,
  type RunState
} from "@inspo/coevolution"
import type { Setting } from "@inspo/coevolution/Next"
import type { Member } from "@inspo/population/Population"
import { QuestionStream } from "@inspo/sampler"
import { Array as Arr, Effect, Option } from "effect"
import { make, reusing, runOn } from "../../coevolution/test/support/ScriptedRun.ts"
import { layerMemory } from "../../journal/src/sqlite.ts"
import { Server } from "./support/Server.ts"

/** The settings of a served population that is to decide as a run does. */
const settingsOf = (config: RunConfig): Settings.Settings => ({
  ...Settings.trainer(config.seed),
  size: config.population.size,
  parents: config.population.parents,
  temperature: config.sampler.temperature,
  window: config.population.window,
  average: config.population.average === "draws" ? "window" : "observed",
  span: config.population.average,
  newcomers: config.sampler.newcomers,
  pruneEvery: config.schedule.pruneEvery,
  evolveEvery: config.schedule.evolveEvery,
  evolveUntil: config.schedule.evolveUntil,
  trial: {
    samples: config.verification.samples,
    paired: true,
    lookEvery: config.verification.stop === null ? null : config.verification.lookEvery,
    rounds: config.verification.rounds
  }
})

/** The strategies of the run, in its place. */
const strategiesOf = ({ config, strategies }: Setting): Strategies.Strategies => ({
  weights: strategies.weighting.weights,
  best: strategies.weighting.best,
  assign: ({ newcomers, questions, seed, step, weights }) => {
    const guaranteed = config.sampler.newcomers === "everyone" ? weights.map(({ id }) => id) : newcomers
    const request = { weights, questions, guaranteed, shares: strategies.sampler.probabilities(weights) }
    return Strategies.withProbabilities(
      request,
      strategies.sampler.assign({ seed, step, weights, questions, newcomers })
    )
  },
  prune: ({ population }, weights) => strategies.halving.prune(population, weights),
  parents: ({ population }, weights) =>
    strategies.halving.parents(population, weights).map((one) => one.instruction.id),
  replaced: ({ population }, weights, staying) =>
    strategies.halving.replaced(
      population,
      weights,
      population.members.map(({ instruction }) => instruction.id).filter((id) => staying.has(id))
    ),
  verification: strategies.verification
})

type Step = Extract<RunEvent, { readonly _tag: "StepPlanned" }>
type Collected = Extract<RunEvent, { readonly _tag: "RolloutsCollected" }>

/** Plays the questions, proposals and rewards of a run to a population, and compares what both decide. */
class Follower {
  readonly server: Server
  readonly setting: Setting
  #compared: Record<string, number> = {}
  #events: ReadonlyArray<PopulationEvent> = []

  constructor(setting: Setting, contents: Arr.NonEmptyReadonlyArray<string>) {
    const [first, ...others] = contents
    this.setting = setting
    this.server = new Server(settingsOf(setting.config), [first, ...others], strategiesOf(setting))
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
      case "Pruned":
        return this.#same("Pruned", event, ({ kept, pruned, step }) => ({ kept, pruned, step }))
      case "ParentsChosen":
        return this.#same("ParentsChosen", event, ({ parents, step }) => ({ parents, step }))
      case "CandidatesProposed": {
        const { candidates, failures, parent } = event
        const reflected = failures.flatMap((id) => this.#questions.get(id) ?? [])
        const proposed = candidates.map(({ rationale, text }) => ({ content: text, rationale }))
        return this.#hear({ _tag: "Propose", now: 0, parent, candidates: proposed, reflected })
      }
      case "EvolutionSkipped":
        return this.#hear({ _tag: "SkipEvolution", now: 0, reason: event.reason })
      case "CandidatesVerified":
        return this.#same("TrialScored", event, ({ candidates, parent, questions }) => ({
          candidates,
          parent,
          questions
        }))
      case "VerificationContinued":
        return this.#same("TrialContinued", event, ({ remaining }) => ({ remaining }))
      case "CandidatesJudged":
        return this.#same("CandidatesJudged", event, ({ again, verdicts }) => ({ again, verdicts }))
      case "PopulationRefilled":
        return this.#same("Refilled", event, ({ accepted, parents, replaced, shortfall }) => ({
          accepted: accepted.map(({ instruction, mean, questions, verdict }) => ({
            instruction,
            mean,
            questions,
            verdict
          })),
          parents,
          replaced,
          shortfall
        }))
      default:
        return
    }
  }

  /** Compares I*. */
  compareBest({ population }: RunState.RunState): void {
    const { best } = this.server.strategies
    const id = ({ instruction }: Member) => instruction.id
    assert.deepEqual(Option.map(best(this.server.state.learning.population), id), Option.map(best(population), id))
    this.#count("I*")
  }

  readonly #questions = new Map<string, Step["questions"][number]>()
  #leases = new Map<string, string>()

  #plan(plan: Step): void {
    const { config, questions } = this.setting
    const { batchSize } = config.train
    const batch = QuestionStream.batch({ seed: config.seed, step: plan.step, batchSize, size: questions.length })
    const { answer, events } = this.server.do({
      _tag: "Lease",
      now: 0,
      cohort: `train/${plan.step}`,
      phase: "train",
      isWhole: true,
      requests: batch.flatMap((index) => {
        const question = questions[index]
        return question === undefined
          ? []
          : [
              {
                key: question.id,
                n: config.rollout.groupSize,
                stratum: question.dataSource,
                sticky: null,
                question: question.id
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
    assert.deepEqual(opened?._tag === "CohortOpened" ? opened.weights : [], plan.weights)
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

  #same<Tag extends "CandidatesJudged" | "ParentsChosen" | "Pruned" | "Refilled" | "TrialContinued" | "TrialScored", E>(
    tag: Tag,
    expected: E,
    part: (event: E | EventOf<Tag>) => unknown
  ): void {
    const found = this.#events.find((event): event is EventOf<Tag> => event._tag === tag)
    assert.isDefined(found, tag)
    if (found !== undefined) assert.deepEqual(part(found), part(expected))
    this.#count(tag)
  }
}

const longer: RunConfig = { ...reusing, schedule: { ...reusing.schedule, steps: 20, evolveUntil: 16 } }

/** Each with candidates that are tried in the groups of ordinary steps, as those of a served population are. */
const configs: Readonly<Record<string, RunConfig>> = {
  "the bottom half is dropped where it was seen": longer,
  "whoever is worse is dropped, everyone is owed a group": {
    ...longer,
    sampler: { ...longer.sampler, newcomers: "everyone" },
    halving: { ...longer.halving, rule: "confident" }
  },
  "the letter of the paper": {
    ...longer,
    seed: 5,
    population: {
      ...longer.population,
      average: "draws",
      ties: "order"
    },
    sampler: { ...longer.sampler, assignment: "independent", newcomers: "drawn" },
    halving: { ...longer.halving, rule: "bottom-half" }
  }
}

describe("a run driven through cohorts", () => {
  for (const [name, config] of Object.entries(configs))
    it.effect(`takes the same decisions: ${name}`, () =>
      Effect.gen(function* () {
        const { data } = yield* make(config)
        const setting = makeSetting(RunStrategies.deciding(config), data)
        let follower: Follower | undefined
        yield* runOn(config, layerMemory, (event, state) =>
          Effect.sync(() => {
            if (event._tag === "PopulationInitialised")
              follower = new Follower(
                setting,
                Arr.map(event.instructions, ({ text }) => text)
              )
            follower?.follow(event)
            if (event._tag === "StepPlanned" || event._tag === "RunFinished") follower?.compareBest(state)
          })
        )
        const compared = follower?.compared ?? {}
        for (const what of ["Pruned", "ParentsChosen", "TrialScored", "CandidatesJudged", "Refilled"])
          assert.isAbove(compared[what] ?? 0, 0, what)
        assert.isAbove(compared["assignments"] ?? 0, 100)
        assert.strictEqual(compared["I*"], config.schedule.steps + 1)
      })
    )
})
