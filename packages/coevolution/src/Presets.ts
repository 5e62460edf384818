import { ClauseBank } from "@inspo/reflection"
import type { RunConfig } from "./Config.ts"

/** The reading we defend, at the paper's scale (§3, column `robust`). */
export const robust: RunConfig = {
  seed: 1,
  data: {
    questions: null,
    corpus: null,
    validationShare: 0.1,
    testShare: 0.2,
    world: {
      seed: null,
      sizes: { person: 120, town: 40, company: 40, river: 20 },
      mix: { oneHop: 0.35, twoHop: 0.35, threeHop: 0.15, fourHop: 0.05, comparison: 0.1 },
      counts: { train: 1000, validation: 100, test: 500 }
    }
  },
  instruction: { seed: ClauseBank.seedInstruction },
  population: { size: 7, parents: 1, window: 5, weighting: "robust" },
  sampler: { temperature: 0.2, assignment: "robust" },
  halving: { rule: "robust", minimumGroups: 4 },
  schedule: { steps: 300, pruneEvery: 5, evolveEvery: 15, evolveUntil: 150, evolveUntilInclusive: true },
  buffer: { policy: "robust", capacitySteps: 5, perQuestionCap: 10 },
  proposer: { kind: "rules", failures: 4, candidates: 6 },
  verification: { samples: 200, rounds: 5, policy: "robust", fill: false },
  rollout: {
    groupSize: 5,
    maxTurns: 4,
    maxPromptTokens: 4096,
    maxResponseTokens: 500,
    maxObservationTokens: 500,
    temperature: 1,
    topP: 1,
    passageTemplate: "{title}: {text}",
    passageSeparator: " ",
    instructionRole: "user"
  },
  retrieval: { topK: 3 },
  train: {
    batchSize: 512,
    fromStep: 1,
    miniBatchSize: 256,
    unit: "questions",
    learningRate: 5e-7,
    schedule: "cosine",
    warmupRatio: 0.1,
    clipRatio: 0.2,
    klCoefficient: 0.001,
    beta1: 0.9,
    beta2: 0.999,
    weightDecay: 0.01,
    gradientClip: 1,
    normalization: "sequence-mean",
    advantage: "standardised"
  },
  evaluation: { questions: 500 },
  checkpoint: { every: 1, keep: 2 },
  engine: { model: null, workers: null },
  control: { permuteCredit: false }
}

/** The letter of the paper wherever it can run (§3, column `paper`). */
export const paper: RunConfig = {
  ...robust,
  population: { ...robust.population, weighting: "paper" },
  sampler: { ...robust.sampler, assignment: "paper" },
  halving: { rule: "paper", minimumGroups: 0 },
  schedule: { ...robust.schedule, evolveUntilInclusive: false },
  buffer: { policy: "paper", capacitySteps: 1, perQuestionCap: 1_000_000 },
  verification: { ...robust.verification, policy: "paper", fill: true },
  train: { ...robust.train, unit: "trajectories" }
}

/** A whole run on the embedded defaults in about a minute on a laptop. */
export const quick: RunConfig = {
  ...robust,
  schedule: { steps: 60, pruneEvery: 5, evolveEvery: 15, evolveUntil: 30, evolveUntilInclusive: true },
  verification: { ...robust.verification, samples: 16, rounds: 2 },
  rollout: {
    ...robust.rollout,
    maxPromptTokens: 160,
    maxResponseTokens: 40,
    maxObservationTokens: 64,
    passageTemplate: "{text}"
  },
  retrieval: { topK: 1 },
  train: { ...robust.train, batchSize: 16, miniBatchSize: 16, learningRate: 1e-4, weightDecay: 0, beta2: 0.95 }
}

/** The presets by the name they have on the command line. */
export const byName: Readonly<Record<string, RunConfig>> = { quick, paper, robust }
