/** Proposals: the first population, and the candidates of an evolution. */
import { type Instruction, Question } from "@inspo/domain"
import {
  CandidateLint,
  type FailureMode,
  isPermanent,
  type MakeCall,
  type Proposal,
  Proposer,
  ProposerError,
  Reflect
} from "@inspo/reflection"
import { type Bookkeeping, Ledger, ProposerCalls } from "@inspo/ledger"
import { Rollout } from "@inspo/rollout"
import { Array as Arr, Effect } from "effect"
import type * as Command from "../../Command.ts"
import { type Algorithm, protocolOf } from "../../Algorithm.ts"
import { unknownPrice } from "../../ConfigError.ts"
import type { RunData } from "../../RunData.ts"
import { instructionId } from "../../RunState.ts"
import type { TrajectoryStore } from "../../TrajectoryStore.ts"
import type { CandidatesProposed, PopulationInitialised } from "../../RunEvent.ts"
import * as Rollouts from "./Rollouts.ts"

export const make = Effect.fnUntraced(function* (
  algorithm: Algorithm,
  data: RunData,
  store: TrajectoryStore,
  bookkeeping: Bookkeeping.Bookkeeping
) {
  const proposer = yield* Proposer
  const protocol = protocolOf(algorithm, (yield* Rollout).agent)
  const ask = yield* makeAsk(algorithm, bookkeeping)
  return {
    initialise: makeInitialise(algorithm, protocol, proposer, ask),
    propose: makePropose(algorithm, protocol, data, store, proposer, ask)
  }
})

const makeInitialise = (
  algorithm: Algorithm,
  protocol: FailureMode.Protocol,
  proposer: Proposer["Service"],
  ask: Ask
) =>
  Effect.fn("Perform.initialise")(function* ({ seeds, size }: Command.Initialise) {
    const [seed, ...others] = Arr.map(seeds, (text, index): Instruction.Instruction => ({
      id: instructionId(index),
      text,
      generation: 0,
      parent: null,
      origin: index === 0 ? "seed" : "variant",
      bornAt: 0
    }))
    const count = size - seeds.length
    const strict = { seed: seed.text, actions: protocol.actions, known: seeds }
    const rules = algorithm.selection.lint === "strict" ? strict : undefined
    const proposal =
      count <= 0
        ? nothingProposed
        : yield* ask("initial", 0, (makeCall) =>
            proposer.initial({
              parent: seed,
              count,
              seed: algorithm.randomSeed,
              stream: ["initial"],
              makeCall,
              ...(rules === undefined ? {} : { rules })
            })
          )
    const variants = Arr.take(CandidateLint.lint(proposal.candidates, rules).accepted, count).map(
      (candidate, index) => ({
        ...seed,
        id: instructionId(seeds.length + index),
        text: candidate.text,
        parent: seed.id,
        origin: "variant" as const
      })
    )
    const event: PopulationInitialised = {
      _tag: "PopulationInitialised",
      instructions: [seed, ...others, ...variants],
      ...failureOf(proposal)
    }
    return event
  })

const makePropose = (
  algorithm: Algorithm,
  protocol: FailureMode.Protocol,
  data: RunData,
  store: TrajectoryStore,
  proposer: Proposer["Service"],
  ask: Ask
) => {
  const question = Rollouts.lookup(data)
  const commonAnswers = CandidateLint.commonAnswers(
    data.train.map(({ goldenAnswers }) => goldenAnswers),
    CandidateLint.defaultCommonShare
  )
  return Effect.fn("Perform.propose")(function* (command: Command.Propose) {
    const trajectories = yield* store.read(command.failures)
    const records = yield* Effect.forEach(trajectories, ({ answer, finishReason, questionId, reward, transcript }) =>
      Effect.map(question(questionId), (asked) => ({
        score: reward,
        task: Question.conversationText(asked),
        expected: asked.goldenAnswers,
        transcript: { turns: transcript, answer, finishReason }
      }))
    )
    const { candidatesOf, request } = Reflect.on({
      parent: command.parent.text,
      seed: algorithm.seedInstruction,
      records,
      known: command.known,
      history: command.history,
      notebook: command.notebook,
      count: command.count,
      protocol,
      rules: algorithm.selection.lint === "strict" ? { actions: protocol.actions, commonAnswers } : null
    })
    const proposal = yield* ask("proposing", command.step, (makeCall) =>
      proposer.propose({
        ...request,
        seed: algorithm.randomSeed,
        stream: ["proposal", command.step, command.round],
        makeCall
      })
    )
    const { accepted, rejected } = candidatesOf(proposal)
    const event: CandidatesProposed = {
      _tag: "CandidatesProposed",
      step: command.step,
      round: command.round,
      parent: command.parent.id,
      failures: command.failures,
      critique: proposal.critique,
      candidates: accepted,
      rejected,
      ...(proposal.notes === undefined ? {} : { notes: proposal.notes }),
      ...failureOf(proposal)
    }
    return event
  })
}

/**
 * Calls the proposer, with retries if the algorithm has them; after the last failure there are no candidates. A failure that
 * only the user can fix stops the run: a run without a proposer would look like a valid result.
 */
const makeAsk = Effect.fnUntraced(function* (algorithm: Algorithm, bookkeeping: Bookkeeping.Bookkeeping) {
  const makeCall = yield* ProposerCalls.make(bookkeeping)
  return Effect.fnUntraced(function* (
    phase: Ledger.Phase,
    step: number,
    proposing: (
      makeCall: MakeCall<ProposerCalls.CallError>
    ) => Effect.Effect<Proposal, ProposerError | ProposerCalls.CallError>
  ) {
    yield* bookkeeping.check(phase, Ledger.needs.time)
    const attempt = (times: number) =>
      proposing(makeCall(phase, step, times)).pipe(
        Effect.catchTag("UnknownPrice", ({ limit }) => Effect.fail(unknownPrice("proposer", limit)))
      )
    if (algorithm.selection.onError === "stop") return yield* attempt(0)
    return yield* attempt(0).pipe(
      Effect.catchIf(mayPass, () => attempt(1)),
      Effect.catchIf(mayPass, () => attempt(2)),
      Effect.catchIf(mayPass, ({ failure, notes }) =>
        Effect.succeed({ ...nothingProposed, failure, ...(notes === undefined ? {} : { notes }) })
      )
    )
  })
})

type Ask = Effect.Success<ReturnType<typeof makeAsk>>

const nothingProposed: Proposal = { candidates: [], critique: "", spent: { calls: 0, tokens: 0, usd: 0 } }

const mayPass = (error: unknown): error is ProposerError =>
  error instanceof ProposerError && !isPermanent(error.failure.kind)

const failureOf = ({ failure }: Proposal): Pick<Proposal, "failure"> => (failure === undefined ? {} : { failure })
