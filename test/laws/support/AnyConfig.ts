/** Small runs of every kind: all of the paper's readings, all of ours, or any mixture. */
import { inconsistency, Presets, type Algorithm, type Strategies } from "@inspo/coevolution"
import { Question } from "@inspo/domain"
import * as fc from "fast-check"

const { paper, robust } = Presets

/** Which preset each open point is read by; a reading of its own in every place, or the same everywhere. */
const readings = fc.oneof(
  fc.constant(Array.from({ length: 8 }, () => paper)),
  fc.constant(Array.from({ length: 8 }, () => robust)),
  fc.array(fc.constantFrom(paper, robust), { minLength: 8, maxLength: 8 })
)

const sizes = fc
  .record({
    size: fc.oneof(fc.integer({ min: 1, max: 6 }), fc.integer({ min: 4, max: 6 })),
    parents: fc.constantFrom(1, 1, 2, 3)
  })
  .map(({ parents, size }) => ({ size, parents: Math.min(parents, size) }))

const numbers = fc.record({
  randomSeed: fc.nat(1000),
  sizes,
  window: fc.integer({ min: 1, max: 4 }),
  temperature: fc.constantFrom(1e-6, 0.05, 0.2, 1),
  average: fc.constantFrom(null, null, "steps" as const),
  risk: fc.constantFrom(0.05, 0.99, 0.99),
  perQuestion: fc.constantFrom(null, null, 1, 2, 4, "samples" as const, "samples" as const),
  rule: fc.constantFrom(null, "fixed-half" as const, "evidence" as const, "evidence" as const),
  questions: fc.constantFrom(null, null, "uniform" as const),
  baseline: fc.constantFrom("stored" as const, "shared" as const, "rerun" as const),
  schedule: fc.record({
    steps: fc.oneof(fc.integer({ min: 1, max: 8 }), fc.integer({ min: 10, max: 14 }), fc.constant(14)),
    pruneEvery: fc.constantFrom(0, 1, 2, 2, 3),
    evolveEvery: fc.constantFrom(0, 1, 1, 2, 2, 3),
    evolveUntil: fc.oneof(fc.integer({ min: 2, max: 12 }), fc.constant(12)),
    searchEvery: fc.constantFrom(0, 1, 1, 2)
  }),
  policyFirst: fc.constantFrom(null, null, null, 2, 3),
  capacitySteps: fc.integer({ min: 1, max: 3 }),
  perQuestionCap: fc.constantFrom(1, 2, 5),
  candidates: fc.constantFrom(1, 2, 3, 4, 4),
  samples: fc.oneof(fc.constant(0), fc.nat(5), fc.constant(12)),
  rounds: fc.integer({ min: 1, max: 3 }),
  groupSize: fc.integer({ min: 1, max: 3 }),
  batchSize: fc.oneof(fc.integer({ min: 1, max: 6 }), fc.constant(12), fc.constant(12)),
  training: fc.record({ fromStep: fc.integer({ min: 1, max: 3 }) }),
  evaluation: fc.record({
    questions: fc.nat(2),
    every: fc.nat(3),
    select: fc.constantFrom("last", "best", "best", "before-collapse")
  }),
  instruction: fc.constantFrom("best" as const, "proven" as const),
  checkpoint: fc.record({ every: fc.integer({ min: 1, max: 3 }), keep: fc.constantFrom(null, 1, 2) })
})

export const algorithm: fc.Arbitrary<Algorithm> = fc
  .tuple(readings, numbers)
  .map(([[a, d, f, g, h, i, k, l], n]) => {
    const by = (reading: Algorithm | undefined) => reading ?? robust
    const perQuestion = n.perQuestion ?? by(f).rollout.instructionsPerQuestion
    return {
      ...robust,
      randomSeed: n.randomSeed,
      selection: {
        ...robust.selection,
        window: n.window,
        average: n.average ?? by(a).selection.average,
        ties: by(d).selection.ties,
        shares: by(g).selection.shares,
        temperature: n.temperature,
        assignment: by(f).selection.assignment,
        risk: n.risk,
        removal: n.rule ?? by(h).selection.removal,
        ranking: by(i).selection.ranking,
        failures: by(k).selection.failures,
        capacitySteps: n.capacitySteps,
        perQuestionCap: by(k).selection.perQuestionCap === null ? null : n.perQuestionCap,
        parent: by(k).selection.parent,
        baseline: n.baseline,
        questions: n.questions ?? by(l).selection.questions,
        fill: by(l).selection.fill,
        rounds: n.rounds,
        instruction: n.instruction
      },
      population: { ...robust.population, ...n.sizes },
      schedule: n.schedule,
      proposer: { ...robust.proposer, candidates: n.candidates },
      verification: { samples: n.samples },
      rollout: { ...robust.rollout, groupSize: n.groupSize, instructionsPerQuestion: perQuestion },
      train: {
        ...robust.train,
        ...n.training,
        advantage: perQuestion === "samples" ? ({ name: "centred" } as const) : robust.train.advantage,
        batchSize: n.batchSize,
        miniBatch: { ...robust.train.miniBatch, size: 1 }
      },
      evaluation: { ...n.evaluation },
      checkpoint: n.checkpoint,
      control: { ...robust.control, policyFirst: n.policyFirst }
    }
  })
  .filter((algorithm) => inconsistency(algorithm) === null)

const source = fc.constantFrom("nq", "hotpotqa", "musique")

/** Questions of up to three sources; often enough of them for candidates to be tried in several batches. */
export const questions: fc.Arbitrary<ReadonlyArray<Strategies.QuestionRef>> = fc
  .oneof(...[1, 10].map((minLength) => fc.array(source, { minLength, maxLength: 12 })))
  .map((sources) => sources.map((dataSource, index) => ({ id: Question.QuestionId.make(`q${index}`), dataSource })))
