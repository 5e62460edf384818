import { Choice } from "@inspo/domain"
import { Rules } from "@inspo/evolution"
import { adamw, adamwShort } from "@inspo/policy-gradient"
import { ClauseBank, ProposerModel } from "@inspo/reflection"
import { defaultConfig as episode } from "@inspo/rollout"
import type { Algorithm } from "./Algorithm.ts"

/** Our own choices, at the paper's scale (§3, column `robust`). */
export const robust: Algorithm = {
  randomSeed: 1,
  data: {
    mix: null,
    world: { randomSeed: null, questions: 1000 }
  },
  seedInstruction: ClauseBank.seedInstruction,
  variants: [],
  selection: Rules.sets.evidence,
  population: { size: 7, parents: 1 },
  schedule: { steps: 300, pruneEvery: 5, evolveEvery: 15, evolveUntil: 150, searchEvery: 1 },
  proposer: {
    kind: { name: "reflection", prompt: null },
    candidates: 6,
    model: ProposerModel.named(ProposerModel.offline)
  },
  verification: { samples: 0 },
  rollout: {
    groupSize: 5,
    instructionsPerQuestion: 4,
    agent: { name: "search-r1" },
    tools: ["search"],
    maxTurns: 4,
    maxPromptTokens: 4096,
    maxResponseTokens: 500,
    maxObservationTokens: 500,
    temperature: 1,
    texts: episode.texts,
    scoredTurns: "valid",
    rescue: null
  },
  replay: { successes: 0 },
  retrieval: { topK: 3 },
  reward: { kind: { name: "em" }, shaping: { name: "none" } },
  train: {
    batchSize: 512,
    fromStep: 1,
    staleness: 0,
    miniBatch: { name: "questions", size: 256, epochs: 1 },
    learningRate: 5e-7,
    optimizer: Choice.make(adamw),
    advantage: { name: "standardised", epsilon: 1e-6 },
    credit: { name: "outcome" },
    keep: { name: "all" },
    loss: { name: "clip", low: 0.2, high: 0.2, dual: 0 },
    normalization: { name: "sequence-mean" },
    kl: { name: "loss", coefficient: 0.001 },
    correction: { name: "none" }
  },
  evaluation: { questions: 500, every: 100, select: "before-collapse" },
  checkpoint: { every: 1, keep: 2 },
  engine: { date: null, contextLength: null, loraRank: null },
  control: { permuteCredit: false, clauses: null, policyFirst: null, demonstrations: null }
}

/** The settings of the paper, as far as they can run (§3, column `paper`). */
export const paper: Algorithm = {
  ...robust,
  selection: Rules.sets.paper,
  // t < T_e, which is 150.
  schedule: { ...robust.schedule, evolveUntil: 149, searchEvery: 0 },
  verification: { samples: 200 },
  rollout: { ...robust.rollout, instructionsPerQuestion: 1, scoredTurns: "all" },
  train: { ...robust.train, miniBatch: { ...robust.train.miniBatch, name: "trajectories" } },
  checkpoint: { every: 100, keep: null }
}

/** The same for the paper's larger model. */
export const paper7b: Algorithm = {
  ...paper,
  rollout: { ...paper.rollout, maxTurns: 6 },
  train: { ...paper.train, learningRate: 3e-7 }
}

/** A complete run with the embedded defaults, in about a minute on a laptop. */
export const quick: Algorithm = {
  ...robust,
  schedule: { ...robust.schedule, steps: 65, pruneEvery: 3, evolveEvery: 3, evolveUntil: 30 },
  rollout: {
    ...robust.rollout,
    maxPromptTokens: 240,
    maxResponseTokens: 40,
    maxObservationTokens: 64,
    texts: { ...robust.rollout.texts, passage: "{text}" },
    scoredTurns: "all"
  },
  retrieval: { ...robust.retrieval, topK: 1 },
  train: {
    ...robust.train,
    batchSize: 16,
    miniBatch: { ...robust.train.miniBatch, size: 16 },
    learningRate: 3e-4,
    optimizer: Choice.make(adamwShort)
  },
  evaluation: { ...robust.evaluation, every: 0, select: "last" },
  checkpoint: { ...robust.checkpoint, every: 5 }
}

/** Every event of a run, twice, in three seconds: to test the tools around a run, not to learn. */
export const tiny: Algorithm = {
  ...quick,
  data: { ...quick.data, world: { ...quick.data.world, questions: 40 } },
  population: { ...quick.population, size: 3 },
  selection: { ...quick.selection, removal: "bottom-half" },
  schedule: { ...quick.schedule, steps: 4, pruneEvery: 1, evolveEvery: 2, evolveUntil: 4 },
  proposer: { ...quick.proposer, candidates: 2 },
  verification: { samples: 2 },
  rollout: { ...quick.rollout, groupSize: 2 },
  train: { ...quick.train, batchSize: 3, miniBatch: { ...quick.train.miniBatch, size: 3 } },
  evaluation: { ...quick.evaluation, questions: 4 },
  checkpoint: { ...quick.checkpoint, every: 2 }
}

/** The sets of rules by the names that `selection` has. */
export const selections: Readonly<Record<string, Algorithm["selection"]>> = Rules.sets

/** The presets by their names on the command line. */
export const byName: Readonly<Record<string, Algorithm>> = { quick, tiny, paper, "paper-7b": paper7b, robust }

/** The purpose of each preset, in one line. */
export const purposes: Readonly<Record<string, string>> = {
  quick: "a complete run on the embedded model, in about a minute",
  tiny: "every event of a run, in seconds; too short to learn",
  paper: "the paper's algorithm at its scale, for your own engine",
  "paper-7b": "the same for its 7B model: more turns, a lower learning rate",
  robust: "the same scale, with our own choices where the paper is not specific"
}
