/** Asks for revisions of a prompt, from what the agent did under it. */
import { Instruction, RandomStream } from "@inspo/domain"
import {
  CandidateLint,
  ClauseBank,
  Learners,
  type MakeCall,
  type Proposal,
  Proposer,
  type ProposerError,
  type ProposeRequest,
  layerRuleBased,
  Reflect,
  type ReflectiveRecord
} from "@inspo/reflection"
import { Notebook } from "@inspo/evolution"
import { DollarBudget } from "@inspo/ledger"
import { ModelProposer } from "@inspo/reflection/models"
import { Effect, Layer, Stream } from "effect"
import { AiError, LanguageModel, type Prompt } from "effect/ai"
import * as Aim from "./Aim.ts"
import { caseId, type Event, keyOf, type Obtained } from "./Event.ts"
import * as Calls from "./Calls.ts"
import * as Demonstrations from "./Demonstrations.ts"
import * as Evidence from "./Evidence.ts"
import { describe, FileFailed } from "./Log.ts"
import * as Search from "./Search.ts"
import { dollars } from "./SearchView.ts"
import type { AiSdkModel, Complete, Completion } from "./Setup.ts"

export type Source = Complete | AiSdkModel | ReadonlyArray<string>

/** What the latest answer of a language model cost in US dollars, and what is left of the budget; null for no limit. */
export interface Bill extends DollarBudget.Bill {
  left: number | null
  /** The most that a request can cost in US dollars; null if that is not known. */
  readonly atMost: (request: string) => number | null
  /** Records that a request begins, with the most that it can cost. */
  begin: (atMost: number | null) => Effect.Effect<void>
}

/** The proposer of a source. A language model is asked again where it fails; its prices go to the bill. */
export const make = (
  source: Source,
  kind: Learners.LearnerName | undefined,
  retries: number,
  bill: Bill,
  demands: ReadonlyArray<string>
): Layer.Layer<Proposer> => {
  if (isSentences(source))
    return Layer.provide(layerRuleBased, Layer.succeed(ClauseBank.Bank, ClauseBank.ofSentences(source)))
  const learner = kind === undefined ? undefined : Learners.fromConfig({ name: kind })
  return Layer.provide(
    ModelProposer.layer({
      kind: "reflection",
      maxEvidenceTokens: 8_000,
      maxOutputTokens: 16_384,
      price: null,
      learner,
      demands
    }),
    Layer.effect(LanguageModel.LanguageModel, modelOf(source, retries, bill))
  )
}

const isSentences = (source: Source): source is ReadonlyArray<string> => Array.isArray(source)

/** What a proposal brings: events, in order. */
export interface Task {
  readonly state: Search.State
  readonly parent: Instruction.Instruction
  readonly count: number
  readonly outputs: ReadonlyMap<string, Obtained>
  /** A case as the proposer may read it, and the answer that would have been right, if it is known. */
  readonly show: (index: number) => { readonly task: string; readonly expected: string | null }
  readonly expected: ReadonlyArray<string>
  readonly keep: ReadonlyArray<string>
  readonly makeCall: MakeCall<FileFailed>
}

/** Requests candidates for a parent. A proposer that fails skips this evolution; the first time it ends the search. */
export const propose = Effect.fn("Proposing.propose")(function* (
  task: Task
): Effect.fn.Return<ReadonlyArray<Event>, ProposerError | FileFailed, Proposer> {
  const { makeCall, parent, state } = task
  const step = state.evolution.population.step
  const records = recordsOf(task)
  if (records.length === 0) return skipped(parent, step, `no output is known under ${parent.id}`)
  const name = Search.textToRevise(state, parent)
  if (parent.parts !== undefined && name === Demonstrations.part) return demonstrated(task, parent.parts)
  const { candidatesOf, request } = Reflect.on({
    parent: Instruction.contentOf(parent),
    seed: Instruction.contentOf(Search.promptOf(state, Search.original)),
    records: records.map(({ record }) => record),
    known: state.prompts.map(Instruction.contentOf),
    history: historyOf(state),
    notebook: Notebook.ofState(state.evolution),
    count: task.count,
    name,
    longest: Aim.longest(state.setup.aim, Search.promptOf(state, Search.original)),
    // What the user's own score says may be repeated in a prompt.
    ownFeedback: true,
    rules: {
      actions: [],
      keep: task.keep,
      commonAnswers: CandidateLint.commonAnswers(
        task.expected.map((answer) => [answer]),
        CandidateLint.defaultCommonShare
      )
    }
  })
  const proposer = yield* Proposer
  const found = yield* Effect.result(
    proposer.propose({ ...request, seed: state.setup.randomSeed, stream: ["proposal", step], makeCall })
  )
  if (found._tag === "Failure") {
    if (found.failure instanceof FileFailed || state.prompts.length === 1) return yield* found.failure
    return skipped(parent, step, found.failure.message, found.failure.notes)
  }
  const { critique, failure } = found.success
  const { accepted, rejected } = candidatesOf(found.success)
  const inherited = Demonstrations.shownIn(Instruction.contentOf(parent), tasksOf(task))
  return [
    { _tag: "Proposed", parent: parent.id, critique, rejected, failure: failure?.message ?? null },
    proposed(
      task,
      accepted,
      records.map(({ index }) => index).concat(inherited),
      found.success.notes === undefined ? {} : { notes: found.success.notes }
    )
  ]
})

/** Revisions by demonstrations, which ask no proposer. */
const demonstrated = (task: Task, parts: Instruction.Parts): ReadonlyArray<Event> => {
  const { parent, state } = task
  const { prompts, setup } = state
  const { step } = state.evolution.population
  const { parts: given = {} } = Search.promptOf(state, Search.original)
  const candidates = Demonstrations.draw(parts, {
    count: Math.min(task.count, mostDrawn),
    heading: given[Demonstrations.part] ?? "",
    known: prompts.map(Instruction.contentOf),
    longest: Aim.longest(setup.aim, Search.promptOf(state, Search.original)),
    pool: poolOf(task),
    stream: RandomStream.make(setup.randomSeed, ["demonstrations", step])
  })
  if (candidates.length === 0) return skipped(parent, step, "too few cases have a right answer to demonstrate")
  const all = tasksOf(task)
  const shown = candidates.flatMap((candidate) => Demonstrations.shownIn(Instruction.contentOf(candidate), all))
  return [
    { _tag: "Proposed", parent: parent.id, critique: "", rejected: [], failure: null },
    proposed(task, candidates, [...new Set(shown)])
  ]
}

/** The most revisions of one proposal by demonstrations: none of them is asked what one of them shows. */
const mostDrawn = 2

const proposed = (
  { parent, state }: Task,
  candidates: ReadonlyArray<Instruction.Candidate>,
  reflected: ReadonlyArray<number>,
  notes = {}
): Event => ({
  _tag: "Evolved",
  event: {
    _tag: "CandidatesProposed",
    step: state.evolution.population.step,
    round: state.evolution.evolution?.round ?? 1,
    parent: parent.id,
    candidates,
    reflected: reflected.map(caseId),
    ...notes
  }
})

const tasksOf = ({ show, state }: Task) => state.setup.search.map((index) => ({ index, task: show(index).task }))

/** The cases of the search with a right answer: the expected one, or else the first output with a full score. */
const poolOf = ({ outputs, show, state }: Task): ReadonlyArray<Demonstrations.Demonstration> => {
  const right = new Map(
    [...state.answers.outcomes]
      .filter((answer) => answer._tag === "Answered" && answer.score === 1)
      .toReversed()
      .map((answer) => [answer.case, outputs.get(keyOf(answer))?.output])
  )
  return state.setup.search.flatMap((index) => {
    const { expected, task } = show(index)
    const answer = expected ?? right.get(index)
    return typeof answer === "string" && answer.trim() !== "" ? [{ index, task, answer }] : []
  })
}

const skipped = (
  { id }: Instruction.Instruction,
  step: number,
  reason: string,
  notes?: Proposal["notes"]
): ReadonlyArray<Event> => {
  const noted = notes === undefined ? {} : { noted: { notes, parent: id } }
  return [
    { _tag: "Proposed", parent: id, critique: "", rejected: [], failure: reason },
    { _tag: "Evolved", event: { _tag: "EvolutionSkipped", step, reason, ...noted } }
  ]
}

/** The cases that the parent was asked, drawn at random among equals. */
const recordsOf = ({
  outputs,
  parent,
  show,
  state
}: Task): ReadonlyArray<{ readonly index: number; readonly record: ReflectiveRecord }> => {
  const own = [...Evidence.ofPrompt(state.answers, parent.id).outcomes].filter((answer) => answer._tag === "Answered")
  const shuffled = RandomStream.make(state.setup.randomSeed, ["records", state.evolution.population.step]).shuffle(own)
  const most = Math.max(1, Math.min(Reflect.mostRecords, Math.floor(state.setup.search.length / 5)))
  return Reflect.chosen(shuffled, most).map((answer) => {
    const { case: index, feedback, score } = answer
    const { expected, task } = show(index)
    const output = outputs.get(keyOf(answer))?.output
    return {
      index,
      record: {
        score,
        task,
        transcript: typeof output === "string" ? output : JSON.stringify(output ?? null),
        ...(feedback === null ? {} : { feedback }),
        ...(expected === null ? {} : { expected: [expected] })
      }
    }
  })
}

const historyOf = ({ answers, prompts }: Search.State): ProposeRequest["history"] =>
  prompts.flatMap((instruction) => {
    const score = Evidence.meanOf(answers, instruction.id)
    return score === null ? [] : [{ instruction, score }]
  })

/** The user's function, or a model of the AI SDK, as a language model. */
const modelOf = (source: Complete | AiSdkModel, retries: number, bill: Bill) => {
  const complete = typeof source === "function" ? source : completeWith(source)
  const ask = (request: string): Effect.Effect<Completion, AiError.AiError> => {
    const atMost = bill.atMost(request)
    if (bill.left !== null && atMost !== null && atMost > bill.left)
      return Effect.fail(
        failureOf(`the budget allows no proposal: one can cost ${dollars(atMost)}, and ${dollars(bill.left)} are left`)
      )
    const spend = DollarBudget.spending(bill)
    const again = Effect.suspend(() =>
      bill.left !== null && bill.usd + (atMost ?? 0) > bill.left
        ? Effect.succeed(false)
        : Effect.as(bill.begin(atMost === null ? null : bill.usd + atMost), true)
    )
    return bill.begin(atMost).pipe(
      Effect.andThen(
        Calls.repeated({ retries, retryAfter: Calls.retryAfter, again }, (signal) =>
          complete(request, { signal, usd: bill.left, spend })
        )
      ),
      Effect.mapError(({ cause }) => failureOf(cause)),
      Effect.flatMap((answer) => Effect.try({ try: () => completionOf(answer, spend), catch: failureOf }))
    )
  }
  return LanguageModel.make({
    generateText: ({ prompt }) =>
      Effect.map(ask(textOfPrompt(prompt)), ({ end, text }) => {
        const reason = end === undefined ? ("unknown" as const) : reasons[end]
        return [
          { type: "text" as const, text },
          { type: "finish" as const, reason, usage: { inputTokens: {}, outputTokens: {} } }
        ]
      }),
    streamText: () => Stream.die(new Error("a proposer does not stream"))
  })
}

/** Functions of JavaScript may return anything. */
const completionOf = (answer: string | Completion, spend: (usd: number) => void): Completion => {
  const found = typeof answer === "string" ? { text: answer } : answer
  if (typeof found.text !== "string")
    throw new TypeError("the proposer answered without a text; expected a text or { text, usd }")
  spend(found.usd ?? 0)
  return found
}

const reasons = { done: "stop", cut: "length", refused: "content-filter" } as const

const failureOf = (cause: unknown): AiError.AiError =>
  AiError.make({
    module: "the proposer",
    method: "generateText",
    reason: new AiError.UnknownError({ description: describe(cause) })
  })

const completeWith =
  (model: AiSdkModel): Complete =>
  async (request, { signal }) => {
    const { content, finishReason } = await model.doGenerate({
      prompt: [{ role: "user", content: [{ type: "text", text: request }] }],
      abortSignal: signal
    })
    const reason = typeof finishReason === "object" ? finishReason.unified : finishReason
    if (reason === "error") throw new Error(`the model ${model.modelId} stopped with an error`)
    const end = reason === undefined ? undefined : ends[reason]
    const text = content.map((part) => (part.type === "text" ? (part.text ?? "") : "")).join("")
    return { text, ...(end === undefined ? {} : { end }) }
  }

const ends: Readonly<Record<string, NonNullable<Completion["end"]>>> = {
  stop: "done",
  length: "cut",
  "content-filter": "refused"
}

/** A conversation as one text: a request, and what was answered and asked again. */
const textOfPrompt = ({ content }: Prompt.Prompt): string =>
  content
    .flatMap((message) =>
      typeof message.content === "string"
        ? [message.content]
        : message.content.map((part) => (part.type === "text" ? part.text : ""))
    )
    .join("\n\n")
