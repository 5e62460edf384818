import {
  type Algorithm,
  EventLog,
  Presets,
  type RunData,
  run,
  type RunEvent,
  type RunState,
  Strategies
} from "@inspo/coevolution"
import type { Ledger } from "@inspo/ledger"
import { WorldQuestion } from "@inspo/datasets"
import { Engine } from "@inspo/engine"
import { Journal } from "@inspo/journal"
import { layerMemory } from "@inspo/journal/sqlite"
import { layerHistory, layerParaphrase, layerRandom, layerRuleBased, Learners, Proposer } from "@inspo/reflection"
import { ModelProposer } from "@inspo/reflection/models"
import { ScriptedModel } from "@inspo/reflection/testing"
import { Search } from "@inspo/retrieval"
import { layerBm25 } from "@inspo/retrieval/Bm25"
import { layerExactMatch, type Reward } from "@inspo/reward"
import { type LayerOptions, layer as layerRollout } from "@inspo/rollout"
import { ScriptedEngine } from "@inspo/rollout/testing"
import { Effect, Hash, identity, Layer } from "effect"

/** A run small enough to be repeated hundreds of times: 9 steps of 4 questions × 2, with averages, halving and verification. */
export const algorithm: Algorithm = {
  ...Presets.quick,
  randomSeed: 3,
  data: {
    ...Presets.quick.data,
    world: { randomSeed: 11, questions: 20 }
  },
  population: { ...Presets.quick.population, size: 5 },
  selection: { ...Presets.quick.selection, average: "steps", shares: "softmax", removal: "bottom-half", rounds: 2 },
  schedule: { ...Presets.quick.schedule, steps: 9, pruneEvery: 2, evolveEvery: 4, evolveUntil: 8 },
  verification: { samples: 4 },
  rollout: {
    ...Presets.quick.rollout,
    groupSize: 2,
    instructionsPerQuestion: 1,
    maxPromptTokens: 2000,
    maxResponseTokens: 200,
    maxObservationTokens: 200
  },
  // The rate is that of the fixtures, which outlive what a preset has.
  train: {
    ...Presets.quick.train,
    batchSize: 4,
    miniBatch: { ...Presets.quick.train.miniBatch, size: 2 },
    learningRate: 1e-4
  },
  evaluation: { ...Presets.quick.evaluation, questions: 4 }
}

/** {@link algorithm} with instructions that are compared on the same questions, and newcomers that join untried. */
export const comparing: Algorithm = {
  ...algorithm,
  // So that a run of nine steps removes an instruction.
  selection: { ...algorithm.selection, average: "questions", shares: "thompson", removal: "evidence", risk: 0.99 },
  verification: { samples: 0 },
  rollout: { ...algorithm.rollout, instructionsPerQuestion: 3 },
  train: { ...algorithm.train, batchSize: 8 }
}

/** {@link comparing} with instructions that share the samples of a question. */
export const sharing: Algorithm = {
  ...comparing,
  rollout: { ...comparing.rollout, groupSize: 4, instructionsPerQuestion: "samples" },
  train: { ...comparing.train, batchSize: 4, advantage: { name: "centred" } }
}

/** {@link algorithm} with further rounds: few questions, whose failed groups are rescued and get earlier successes. */
export const rescuing: Algorithm = {
  ...algorithm,
  data: { ...algorithm.data, world: { ...algorithm.data.world, questions: 9 } },
  replay: { successes: 2 },
  rollout: { ...algorithm.rollout, rescue: { attempts: 2, members: 1 } },
  train: { ...algorithm.train, keep: { name: "differing", draws: 1 } }
}

/** A world that the scripted policy can answer about. */
const sizes = { person: 12, town: 6, company: 6, river: 4 }
const mix = { oneHop: 1, twoHop: 1, threeHop: 0, fourHop: 0, comparison: 0 }

const proposers = {
  reflection: layerRuleBased,
  random: layerRandom,
  paraphrase: layerParaphrase,
  history: layerHistory,
  evolving: learning("evolving"),
  lessons: learning("lessons")
}

/** A language model as a proposer that learns. What it writes depends on what it is asked. */
function learning(name: "evolving" | "lessons"): Layer.Layer<Proposer> {
  const script = (messages: ReadonlyArray<string>): string => {
    const asked = messages.at(-1) ?? ""
    const way = Hash.string(messages.join("\n")) >>> 0
    if (asked.includes("Write one edit a line")) return `ADD: Lesson ${way}.`
    if (asked.includes("Write another way")) return `<ins_1>Look closely, way ${way}.</ins_1>`
    const skills = ["Reply with the name only.", "Take your time."]
    return [1, 2, 3]
      .map(
        (index) => `<ins_${index}>${Presets.quick.seedInstruction} ${skills[index % 2]} ${way} ${index}</ins_${index}>`
      )
      .join("\n")
  }
  return Layer.effect(Proposer, scriptedLearner(name, script))
}

/** A language model that follows a script, as a proposer that learns. */
export function scriptedLearner(
  name: "evolving" | "lessons",
  script: (messages: ReadonlyArray<string>) => string
): Effect.Effect<Proposer["Service"]> {
  return Effect.map(
    ScriptedModel.make((messages) => ({ text: script(messages) })),
    ({ model }) =>
      ModelProposer.make(model, {
        kind: "reflection",
        price: null,
        maxOutputTokens: 1000,
        maxEvidenceTokens: 4000,
        learner: Learners.fromConfig({ name })
      })
  )
}

/** The world of some settings as data and passages, and an engine whose policy obeys some clauses more than others. */
export const prepare = Effect.fnUntraced(function* (settings: Algorithm) {
  const { questions: train, randomSeed } = settings.data.world
  const counts = { train, validation: 2, test: 6 }
  const world = yield* WorldQuestion.generate({ seed: randomSeed ?? settings.randomSeed, sizes, mix, counts })
  const answers = new Map(
    Object.values(world.questions).flatMap((split) => split.map((one) => [one.question, one.goldenAnswers[0]] as const))
  )
  const data: RunData = { ...world.questions, fingerprint: "scripted-world", search: "passages" }
  const engine = ScriptedEngine.make((prompt, { seed }) => script(answers, prompt, seed), { concurrency: 64 })
  return { data, engine, passages: world.passages }
})

/** An engine, and rollouts of it in its environment. */
export const layerRollouts = <E>(
  settings: Algorithm,
  engine: Engine.Interface,
  search: Layer.Layer<Search, E>,
  reward: Layer.Layer<Reward> = layerExactMatch,
  options: LayerOptions = {}
) =>
  layerRollout({ ...settings.rollout, topK: settings.retrieval.topK, toolAttempts: 1 }, options).pipe(
    Layer.provide([search, reward]),
    Layer.provideMerge(Layer.succeed(Engine, engine))
  )

/**
 * The world of {@link algorithm} as data and as services, with a policy that obeys some clauses more than others. `meddle` may
 * make the search fail, and `changed` makes the engine another one.
 */
export const make = (
  settings: Algorithm,
  meddle: (search: Search.Interface) => Search.Interface = identity,
  changed: (engine: Engine.Interface) => Engine.Interface = identity,
  options: LayerOptions = {}
) =>
  Effect.map(prepare(settings), ({ data, engine, passages }) => {
    const search = Layer.effect(Search, Effect.map(Search, meddle)).pipe(Layer.provide(layerBm25(passages)))
    const services = Layer.merge(
      layerRollouts(settings, changed(engine), search, undefined, options),
      proposers[settings.proposer.kind.name]
    )
    return { data, services }
  })

/** Services that a test puts in the place of those of {@link make}. */
export interface Replaced {
  readonly proposer?: Layer.Layer<Proposer>
  readonly meddle?: (search: Search.Interface) => Search.Interface
  readonly engine?: (engine: Engine.Interface) => Engine.Interface
  readonly rollout?: LayerOptions
  readonly strategies?: Layer.Layer<Strategies.Services>
  readonly maxFailedShare?: number
  readonly budget?: Ledger.Limits
  readonly data?: Partial<RunData>
}

/** Runs to the end on `journal`, giving the committed events in order and the last state. */
export const runOn = (
  settings: Algorithm,
  journal: Layer.Layer<Journal>,
  onEvent: (event: RunEvent, state: RunState.RunState) => Effect.Effect<void> = () => Effect.void,
  {
    budget,
    data: replaced,
    engine,
    maxFailedShare,
    meddle,
    proposer,
    rollout,
    strategies = Strategies.layer(settings)
  }: Replaced = {}
) =>
  Effect.gen(function* () {
    const { data, services } = yield* make(settings, meddle, engine, rollout)
    return yield* run({
      algorithm: settings,
      data: { ...data, ...replaced },
      code: "test",
      onEvent,
      maxFailedShare,
      budget
    }).pipe(
      Effect.provide(Layer.mergeAll(services, strategies, journal, proposer ?? proposers[settings.proposer.kind.name]))
    )
  })

/** The events of a run to its end, and its last state. */
export const historyOf = (settings: Algorithm) =>
  Effect.gen(function* () {
    const journal = yield* Journal
    const state = yield* runOn(settings, Layer.succeed(Journal, journal))
    return { events: yield* EventLog.read(journal), state }
  }).pipe(Effect.provide(layerMemory, { local: true }))

/** {@link runOn} on a journal that is forgotten. */
export const runOnce = (settings: Algorithm) => runOn(settings, layerMemory)

const script = (answers: ReadonlyMap<string, string>, prompt: string, seed: string): string => {
  const question = [...answers.keys()].find((known) => prompt.includes(known)) ?? ""
  if (prompt.includes("</reflect>")) return `<reflect> It is known as ${seed}.</reflect>`
  if (!prompt.includes("<information>")) return `<search> ${question}</search>`
  // Only the agent with a memory numbers its results.
  if (prompt.includes("<information> 1: ")) return "<prune> 1: Somebody is asked about.</prune>"
  const luck = (Hash.string(seed) >>> 0) / 2 ** 32
  const skill = prompt.includes("name only") || prompt.includes("short and bare") ? 0.9 : 0.4
  return `<answer> ${luck < skill ? (answers.get(question) ?? "") : "Nobody"}</answer>`
}
