import { Group, Instruction, type Question, RandomStream, Trajectory } from "@inspo/domain"
import { Engine, type TrainRequest } from "@inspo/engine"
import { GrpoBatch } from "@inspo/policy-gradient"
import { CandidateLint, Proposer } from "@inspo/reflection"
import type { Episode } from "@inspo/rollout"
import { Array as Arr, Effect, Option, Schema } from "effect"
import { Digest } from "effect/crypto"
import type * as Command from "./Command.ts"
import type { RunConfig } from "./Config.ts"
import type { RunData } from "./RunData.ts"
import type { RunEvent } from "./RunEvent.ts"
import { instructionId, type RunState, staleCheckpoints } from "./RunState.ts"
import * as TrajectoryStore from "./TrajectoryStore.ts"

/** The stored work of a run contradicts its events or its data; nothing was changed. */
export class RunMismatch extends Schema.TaggedError<RunMismatch>()("RunMismatch", { reason: Schema.String }) {
  override get message() {
    return `run: ${this.reason}`
  }
}

/**
 * Does what a command says and reports it as an event; decides nothing. `state` is the state the command was made from.
 *
 * Work that a stopped run already paid for is read from the journal instead of being asked for again.
 */
export const make = Effect.fnUntraced(function* (config: RunConfig, data: RunData) {
  const engine = yield* Engine
  const proposer = yield* Proposer
  const digest = yield* Digest.Digest
  const store = yield* TrajectoryStore.make
  const questions = new Map([...data.train, ...data.test].map((question) => [question.id, question]))
  const { groupSize } = config.rollout
  // The engine's weights when they are those of a checkpoint: evaluating need not load them again.
  let loaded: number | null = null

  const question = (id: Question.QuestionId) =>
    Effect.fromOption(Option.fromNullishOr(questions.get(id))).pipe(
      Effect.mapError(() => new RunMismatch({ reason: `question ${id} of the journal is not in the data` }))
    )

  const episodes = (
    name: ReadonlyArray<string | number>,
    instruction: Instruction.Instruction,
    asked: Question.Question,
    size: number
  ): ReadonlyArray<Episode> =>
    Arr.makeBy(size, (sample) => ({
      id: Trajectory.TrajectoryId.make([...name, sample].join("/")),
      instruction,
      question: asked,
      seed: RandomStream.streamSeed(config.seed, ["episode", ...name, sample])
    }))

  const groupsOf = (
    trajectories: ReadonlyArray<Trajectory.Trajectory>,
    size: number
  ): Effect.Effect<ReadonlyArray<Group.Group>, RunMismatch> =>
    Effect.forEach(Arr.chunksOf(trajectories, size), (members) =>
      Effect.map(question(Arr.headNonEmpty(members).questionId), ({ dataSource }) =>
        Group.fromTrajectories(dataSource, Arr.map(members, Trajectory.summary))
      )
    )

  const initialise = Effect.fn("Perform.initialise")(function* (command: Command.Initialise) {
    const seed: Instruction.Instruction = {
      id: instructionId(0),
      text: command.seedText,
      generation: 0,
      parent: null,
      origin: "seed",
      bornAt: 0
    }
    const proposal =
      command.variants === 0
        ? { candidates: [], critique: "", spent: { calls: 0, tokens: 0 } }
        : yield* proposer.initial({ parent: seed, count: command.variants, seed: config.seed, stream: ["initial"] })
    const { accepted } = CandidateLint.lint(proposal.candidates, { seed: seed.text, known: [seed.text] })
    const variants = Arr.take(accepted, command.variants).map((candidate, index) => ({
      ...seed,
      id: instructionId(index + 1),
      text: candidate.text,
      parent: seed.id,
      origin: "variant" as const
    }))
    return { _tag: "PopulationInitialised", instructions: [seed, ...variants] } as const
  })

  const collect = Effect.fn("Perform.collect")(function* ({ instructions, plan }: Command.Collect) {
    const byId = new Map(instructions.map((instruction) => [instruction.id, instruction]))
    const planned = yield* Effect.forEach(Arr.zip(plan.questions, plan.assignment), ([questionId, id], index) =>
      Effect.gen(function* () {
        const instruction = byId.get(id)
        if (instruction === undefined)
          return yield* new RunMismatch({ reason: `instruction ${id} is planned for step ${plan.step} but not alive` })
        return episodes(["train", plan.step, index], instruction, yield* question(questionId), groupSize)
      })
    )
    const trajectories = yield* store.collect(plan.step, planned.flat())
    return { _tag: "RolloutsCollected", step: plan.step, groups: yield* groupsOf(trajectories, groupSize) } as const
  })

  const trainRequests = Effect.fnUntraced(function* (step: number, groups: ReadonlyArray<Group.Group>) {
    const trajectories = yield* store.read(groups.flatMap((group) => group.trajectories))
    return GrpoBatch.trainRequests(trajectories, config.train, {
      key: `train/${step}`,
      step: step - config.train.fromStep + 1,
      totalSteps: config.schedule.steps - config.train.fromStep + 1
    })
  })

  const batchHash = (requests: ReadonlyArray<TrainRequest>) =>
    digest.digestHex(Digest.sha256, new TextEncoder().encode(JSON.stringify(requests)))

  const planTraining = Effect.fn("Perform.planTraining")(function* (command: Command.PlanTraining) {
    const requests = yield* trainRequests(command.step, command.groups)
    return {
      _tag: "TrainingPlanned",
      step: command.step,
      batchHash: yield* batchHash(requests),
      miniBatches: requests.length
    } as const
  })

  const train = Effect.fn("Perform.train")(function* (command: Command.Train) {
    const requests = yield* trainRequests(command.step, command.groups)
    if ((yield* batchHash(requests)) !== command.batchHash)
      return yield* new RunMismatch({
        reason: `the batch of step ${command.step} is not the one that was planned; resume with the version that planned it`
      })
    loaded = null
    return { _tag: "StepTrained", step: command.step, metrics: yield* Effect.forEach(requests, engine.train) } as const
  })

  const propose = Effect.fn("Perform.propose")(function* (command: Command.Propose) {
    const trajectories = yield* store.read(command.failures)
    const failures = yield* Effect.forEach(trajectories, (trajectory) =>
      Effect.map(question(trajectory.questionId), (asked) => ({
        trajectoryId: trajectory.id,
        question: asked.question,
        goldenAnswers: asked.goldenAnswers,
        transcript: trajectory.transcript,
        answer: trajectory.answer,
        finishReason: trajectory.finishReason,
        reward: trajectory.reward
      }))
    )
    const proposal = yield* proposer.propose({
      parent: command.parent,
      failures,
      history: command.history,
      count: command.count,
      seed: config.seed,
      stream: ["proposal", command.step, command.round]
    })
    const { accepted, rejected } = CandidateLint.lint(proposal.candidates, {
      seed: config.instruction.seed,
      known: command.known
    })
    return {
      _tag: "CandidatesProposed",
      step: command.step,
      round: command.round,
      parent: command.parent.id,
      failures: command.failures,
      critique: proposal.critique,
      candidates: accepted,
      rejected
    } as const
  })

  const verify = Effect.fn("Perform.verify")(function* (command: Command.Verify) {
    const { round, step } = command
    const asked = yield* Effect.forEach(command.questions, question)
    const tried = command.candidates.map((candidate, index) => ({
      name: `candidate-${index}`,
      instruction: {
        id: Instruction.InstructionId.make(`candidate-${step}.${round}.${index}`),
        text: candidate.text,
        generation: 0,
        parent: null,
        origin: "proposed" as const,
        bornAt: step
      }
    }))
    const contestants = command.parent === null ? tried : [...tried, { name: "parent", instruction: command.parent }]
    const trajectories = yield* store.collect(
      step,
      contestants.flatMap(({ instruction, name }) =>
        asked.flatMap((one, index) => episodes(["verify", step, round, name, index], instruction, one, 1))
      )
    )
    const rewards = Arr.chunksOf(trajectories, Math.max(1, asked.length)).map(Arr.map(({ reward }) => reward))
    return {
      _tag: "CandidatesVerified",
      step,
      round,
      questions: command.questions,
      candidates: rewards.slice(0, tried.length),
      parent: command.parent === null ? null : (rewards[tried.length] ?? []),
      rollouts: trajectories.length,
      tokens: trajectories.reduce((total, { promptTokens, responseTokens }) => total + promptTokens + responseTokens, 0)
    } as const
  })

  const checkpoint = Effect.fn("Perform.checkpoint")(function* (command: Command.Checkpoint, state: RunState) {
    const saved = yield* engine.save(`step-${String(command.step).padStart(6, "0")}`)
    loaded = command.step
    yield* Effect.forEach(staleCheckpoints(state, config.checkpoint.keep), (old) => engine.remove(old.checkpoint))
    return { _tag: "CheckpointSaved", step: command.step, checkpoint: saved } as const
  })

  const evaluate = Effect.fn("Perform.evaluate")(function* (command: Command.Evaluate, state: RunState) {
    if (loaded !== command.checkpointStep) yield* restore(command.checkpointStep, state)
    const asked = Arr.take(data.test, config.evaluation.questions)
    const trajectories = yield* store.collect(
      state.step,
      asked.flatMap((one, index) =>
        episodes(["evaluate", command.policy, command.instruction.id, index], command.instruction, one, 1)
      )
    )
    return {
      _tag: "Evaluated",
      policy: command.policy,
      instruction: command.instruction.id,
      groups: yield* groupsOf(trajectories, 1)
    } as const
  })

  const restore = Effect.fn("Perform.restore")(function* (step: number, state: RunState) {
    const saved = state.checkpoints.find((known) => known.step === step)
    if (saved === undefined)
      return yield* new RunMismatch({ reason: `the journal names no checkpoint of step ${step}` })
    yield* engine.restore(saved.checkpoint)
    loaded = step
  })

  /**
   * Brings the engine to the state of the journal: the last checkpoint, then the steps trained after it once more on
   * their journaled batches.
   */
  const catchUp = Effect.fn("Perform.catchUp")(function* (state: RunState, events: ReadonlyArray<RunEvent>) {
    const last = Arr.last(state.checkpoints)
    if (Option.isNone(last)) return
    yield* restore(last.value.step, state)
    const trained = new Set(
      events.flatMap((event) =>
        event._tag === "StepTrained" && event.metrics.length > 0 && event.step > last.value.step ? [event.step] : []
      )
    )
    for (const event of events) {
      if (event._tag !== "RolloutsCollected" || !trained.has(event.step)) continue
      loaded = null
      yield* Effect.forEach(yield* trainRequests(event.step, event.groups), engine.train)
    }
  })

  const perform = (command: Command.Command, state: RunState) => {
    switch (command._tag) {
      case "Record":
        return Effect.succeed(command.event)
      case "Initialise":
        return initialise(command)
      case "Collect":
        return collect(command)
      case "PlanTraining":
        return planTraining(command)
      case "Train":
        return train(command)
      case "Propose":
        return propose(command)
      case "Verify":
        return verify(command)
      case "Checkpoint":
        return checkpoint(command, state)
      case "Evaluate":
        return evaluate(command, state)
    }
  }

  return { perform, catchUp }
})
