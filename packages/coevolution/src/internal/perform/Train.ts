/** The policy update of a step: plans the batch with its hash, then trains on it. */
import { Trajectory } from "@inspo/domain"
import { Engine, EngineError, notFinite, type TrainMetrics, type TrainRequest } from "@inspo/engine"
import { type Credits, GrpoBatch, type Losses, Weighing } from "@inspo/policy-gradient"
import { Array as Arr, Effect, Ref } from "effect"
import { Digest } from "effect/crypto"
import type { Bookkeeping } from "@inspo/ledger"
import type * as Command from "../../Command.ts"
import type { Algorithm } from "../../Algorithm.ts"
import * as ReferenceStore from "../../ReferenceStore.ts"
import type { Findings, StepTrained, TrainingPlanned } from "../../RunEvent.ts"
import type { TrajectoryStore } from "../../TrajectoryStore.ts"
import type { Checkpoints } from "./Checkpoints.ts"
import { type RunData, RunMismatch } from "../../RunData.ts"
import type { Strategies } from "../../Strategies.ts"
import * as Rollouts from "./Rollouts.ts"
import * as Judging from "./Judging.ts"
import { type Found, foundOf, shaped } from "./Shaping.ts"
import * as Turns from "./Turns.ts"

interface Batch {
  readonly step: number
  readonly requests: ReadonlyArray<TrainRequest>
  readonly hash: string
}

export const make = Effect.fnUntraced(function* (
  algorithm: Algorithm,
  bookkeeping: Bookkeeping.Bookkeeping,
  data: RunData,
  store: TrajectoryStore,
  { estimator, surrogate }: Pick<Strategies, "estimator" | "surrogate">,
  { trained }: Pick<Checkpoints, "trained">
) {
  const engine = yield* Engine
  const digest = yield* Digest.Digest
  const references = yield* ReferenceStore.make(bookkeeping)
  const foldKl = folding(algorithm.train, references)
  const correct = correcting(algorithm.train, engine)
  const turnsOf = knowing(algorithm.train, data)
  const judge = yield* Judging.make(algorithm, bookkeeping, data)
  /** The batch of the current step, from its plan to its updates. */
  const planned = yield* Ref.make<Batch | null>(null)

  const update = updating(algorithm.train, surrogate, engine)

  const build = Effect.fnUntraced(function* (
    { learningRate, levels, step }: Pick<Command.PlanTraining, "learningRate" | "levels" | "step">,
    sampled: ReadonlyArray<Trajectory.Trajectory>,
    findings: Findings | null
  ) {
    const found = foundOf(algorithm, sampled, findings)
    const trajectories = shaped(algorithm, sampled, found)
    const made = GrpoBatch.trainRequests(trajectories, algorithm.train, {
      key: `train/${step}`,
      learningRate,
      estimator,
      surrogate,
      turnsOf: yield* turnsOf(trajectories, sampled, found),
      ...(levels === null ? {} : { levels })
    })
    const requests = yield* foldKl(step, made)
    const bytes = new TextEncoder().encode(JSON.stringify(requests))
    return { step, requests, hash: yield* digest.digestHex(Digest.sha256, bytes) } satisfies Batch
  })

  const plan = Effect.fn("Perform.planTraining")(function* (command: Command.PlanTraining) {
    const sampled = yield* trainedOn(store, command.groups, command.replaced)
    const findings = yield* judge(command, sampled, algorithm.train.staleness > 0 || command.replaced.length > 0)
    const batch = yield* build(command, sampled, findings)
    yield* Ref.set(planned, batch)
    return trainingPlanned(batch, command.replaced, findings)
  })

  const train = Effect.fn("Perform.train")(function* (command: Omit<Command.Train, "_tag" | "ahead">) {
    const { step } = command
    const known = yield* Ref.getAndSet(planned, null)
    // After a resume the batch is built again and must equal the planned one.
    const { hash, requests } =
      known?.step === step
        ? known
        : yield* build(command, yield* trainedOn(store, command.groups, command.replaced), command.findings)
    if (hash !== command.batchHash)
      return yield* new RunMismatch({
        reason: `the batch of step ${step} differs from the planned one; resume with the version that planned it`
      })
    yield* trained
    const metrics = yield* Effect.forEach(yield* correct(requests), (request, index) =>
      update(request, index === 0 && command.replaced.length === 0).pipe(
        Effect.filterOrFail(isFinite, unusable),
        Effect.mapError((cause) => new EngineError({ operation: "train", reason: failed(step, cause), cause }))
      )
    )
    const event: StepTrained = { _tag: "StepTrained", step, metrics }
    return event
  })

  return { plan, train }
})

/** The requests with the KL penalty in their advantages, if it belongs there; the epochs of a mini-batch share its reference. */
const folding = ({ kl }: Algorithm["train"], references: Effect.Success<ReturnType<typeof ReferenceStore.make>>) =>
  Effect.fnUntraced(function* (step: number, requests: ReadonlyArray<TrainRequest>) {
    if (kl.name !== "advantages" || kl.coefficient === 0) return requests
    return yield* changedOnce(requests, (request) =>
      Effect.map(references.score(step, request), (logprobs) => GrpoBatch.foldKl(request, logprobs, kl.coefficient))
    )
  })

/** The requests with the factors of a correction by the policy before the update of their step. */
const correcting = ({ correction }: Algorithm["train"], engine: Engine.Interface) =>
  Effect.fnUntraced(function* (requests: ReadonlyArray<TrainRequest>) {
    if (correction.name === "none" || engine.isRecorded === true) return requests
    return yield* changedOnce(requests, (request) =>
      Effect.map(engine.score("current", request.datums), (logprobs) =>
        Weighing.corrected(request, logprobs, correction)
      )
    )
  })

/** Requests with their datums changed, which the epochs of a mini-batch share before and after. */
const changedOnce = Effect.fnUntraced(function* <E, R>(
  requests: ReadonlyArray<TrainRequest>,
  change: (request: TrainRequest) => Effect.Effect<TrainRequest, E, R>
) {
  const known = new Map<TrainRequest["datums"], TrainRequest["datums"]>()
  return yield* Effect.forEach(requests, (request) =>
    Effect.gen(function* () {
      const datums = known.get(request.datums) ?? (yield* change(request)).datums
      known.set(request.datums, datums)
      return { ...request, datums }
    })
  )
})

/** What the rule of credit reads of turns; only that of outcomes reads nothing. */
const knowing = ({ credit }: Algorithm["train"], data: RunData) => {
  const question = Rollouts.lookup(data)
  return Effect.fnUntraced(function* (
    trajectories: ReadonlyArray<Trajectory.Trajectory>,
    sampled: ReadonlyArray<Trajectory.Trajectory>,
    found: Found
  ) {
    const read = credit.name === "outcome" ? [] : Arr.zip(trajectories, sampled)
    const turns = new Map<GrpoBatch.Sampled, ReadonlyArray<Credits.Turn>>(
      yield* Effect.forEach(read, ([trajectory, own]) =>
        Effect.map(
          question(own.questionId),
          (asked) => [trajectory, Turns.turnsOf(trajectory, asked, found.get(own))] as const
        )
      )
    )
    return (trajectory: GrpoBatch.Sampled) => turns.get(trajectory) ?? []
  })
}

const trainingPlanned = (
  { hash, requests, step }: Batch,
  replaced: Command.PlanTraining["replaced"],
  findings: Findings | null
): TrainingPlanned => ({
  _tag: "TrainingPlanned",
  step,
  batchHash: hash,
  miniBatches: requests.length,
  ...(replaced.length === 0 ? {} : { replaced }),
  ...(findings === null ? {} : { findings })
})

/**
 * The metrics of an optimizer step. A loss that the engine lacks weighs the tokens by the policy before it, which for the first
 * step is the one that sampled them, unless some were sampled earlier or under another prompt and are not corrected.
 */
const updating = (
  { correction, staleness }: Algorithm["train"],
  surrogate: Losses.Interface,
  engine: Engine.Interface
) => {
  const isOwn = engine.isRecorded === true || Weighing.isOwn(surrogate, engine.profile)
  return Effect.fnUntraced(function* (request: TrainRequest, isFirst: boolean) {
    if (isOwn) return yield* engine.train(request)
    const now =
      isFirst && (staleness === 0 || correction.name !== "none")
        ? request.datums.map(({ logprobs }) => logprobs)
        : yield* engine.score("current", request.datums)
    const { clipFraction, request: weighed } = Weighing.weighed(request, now, surrogate)
    return { ...(yield* engine.train(weighed)), clipFraction }
  })
}

/**
 * The trajectories that a step trains. A substitute takes the group of its place, and under another instruction its prompt; its
 * log-probabilities stay as sampled.
 */
const trainedOn = Effect.fnUntraced(function* (
  store: TrajectoryStore,
  groups: Command.PlanTraining["groups"],
  replaced: Command.PlanTraining["replaced"]
) {
  const members = yield* store.read(groups.flatMap((group) => group.trajectories))
  const substitutes = yield* store.read(replaced.map(({ by }) => by))
  const places = new Map(Arr.zipWith(replaced, substitutes, ({ member }, by) => [member, by]))
  return members.map((member): Trajectory.Trajectory => {
    const substitute = places.get(member.id)
    if (substitute === undefined) return member
    const { instructionId, questionId } = member
    if (substitute.instructionId === instructionId) return { ...substitute, questionId }
    const [{ prompt: first }] = Trajectory.segments(member)
    const prompt = substitute.earlier === undefined ? first : substitute.prompt
    return { ...substitute, instructionId, questionId, prompt }
  })
})

const isFinite = ({ clipFraction, gradientNorm, kl, loss }: TrainMetrics): boolean =>
  [loss, kl, clipFraction, gradientNorm].every(Number.isFinite)

const unusable = ({ gradientNorm, kl, loss }: TrainMetrics): EngineError =>
  notFinite(`: loss ${loss}, KL ${kl}, gradient norm ${gradientNorm}`)

/** Why a step was not trained, with the setting to change. */
const failed = (step: number, cause: EngineError): string =>
  cause.kind === "not-finite"
    ? `the update of step ${step} is not finite; lower train.learningRate`
    : `step ${step}: ${cause.reason}`
