import { Chat, type Instruction, Spent, Thoughts, PlainText } from "@inspo/domain"
import { Array as Arr, Effect, Layer, Result } from "effect"
import { LanguageModel, type Response, type AiError } from "effect/ai"
import * as CandidateEdits from "./CandidateEdits.ts"
import * as CandidateLint from "./CandidateLint.ts"
import * as CandidateParser from "./CandidateParser.ts"
import * as Evidence from "./Evidence.ts"
import type { Learner } from "./Learner.ts"
import * as Metering from "./Metering.ts"
import * as Prompts from "./Prompts.ts"
import * as PromptTemplate from "./PromptTemplate.ts"
import {
  type AnswerEnd,
  type InitialRequest,
  type ModelAnswer,
  type Proposal,
  Proposer,
  ProposerError,
  type ProposeRequest
} from "./Proposer.ts"
import * as Provider from "./Provider.ts"
import type { Message } from "./Provider.ts"
import { isAttempt } from "./ReflectiveRecord.ts"

/**
 * - `kind`: what the proposer is shown of a parent: its failures, the scores of instructions, or nothing else.
 * - `requests`: the most requests of one call, repetitions included; 1 where it is not given.
 * - `maxEvidenceTokens`: what failures or history may take of a prompt, as `countTokens` counts.
 * - `prompts`: templates instead of those that ship.
 * - `learner`: what changes the method of a prompt of kind `reflection` by what earlier proposals brought.
 * - `demands`: what else each revision must do, such as "have at most 300 characters", where the prompt is about the work of others.
 */
export interface Options extends Metering.Options {
  readonly kind: PromptTemplate.PromptKind
  readonly requests?: number
  readonly maxEvidenceTokens: number
  readonly prompts?: Partial<Record<PromptTemplate.PromptKind, PromptTemplate.PromptTemplate>>
  readonly learner?: Learner | undefined
  readonly demands?: ReadonlyArray<string>
}

/**
 * A language model as the proposer. It is asked once, and once more where fewer candidates than asked for keep the rules of
 * the request; it then gets what was rejected and why. The first variants of a run come from the prompt `paraphrase`.
 */
export const layer = (options: Options): Layer.Layer<Proposer, never, LanguageModel.LanguageModel> =>
  Layer.effect(
    Proposer,
    Effect.map(LanguageModel.LanguageModel, (model) => make(model, options))
  )

/** The service of {@link layer}. */
export const make = (model: LanguageModel.LanguageModel, options: Options): Proposer.Interface => {
  const { kind, maxEvidenceTokens: budget } = options
  const countTokens = options.countTokens ?? Chat.estimateTokens
  const ask = asking(model, options)

  return {
    propose: Effect.fn("ModelProposer.propose")(function* <E>(
      request: ProposeRequest<E>
    ): Effect.fn.Return<Proposal, ProposerError | E> {
      const { history, parent, records } = request
      const areAttempts = records.every(({ transcript }) => isAttempt(transcript))
      const prompting = areAttempts
        ? asked(kind, options)
        : {
            template: options.prompts?.reflection ?? Prompts.ofRecords(records, request.name),
            format: (tags: ReadonlyArray<string>, count: number, asEdits: boolean) =>
              Prompts.formatOfRecords(tags, count, options.demands, asEdits)
          }
      if (areAttempts && kind !== "reflection")
        return yield* converse(ask, request, options, {
          ...prompting,
          examples: "",
          method: "",
          history: kind === "history" ? Evidence.history(history, budget, countTokens) : ""
        })

      const standard = areAttempts ? Prompts.method : Prompts.methodOfRecords(records)
      const learned = yield* learn(ask, request, options, standard)
      const sizeOf = (block: string) => countTokens(Prompts.tried(block))
      const tried = PromptTemplate.holds(prompting.template, "history")
        ? Prompts.tried(Evidence.tried(history, parent, Math.floor(triedShare * budget), sizeOf))
        : ""
      const rest = budget - countTokens(tried)
      const noted = learned.notes === undefined ? {} : { notes: learned.notes }
      const conversation = converse(ask, request, options, {
        ...prompting,
        examples: areAttempts
          ? Evidence.examples(records, tagsOf(request), rest, countTokens)
          : Evidence.records(records, rest, countTokens),
        method: learned.method,
        history: tried
      })
      const { spent, ...written } = yield* Effect.mapError(conversation, (error) =>
        isProposerError(error) && error.isUnusable ? new ProposerError({ ...error, ...noted }) : error
      )
      return { ...written, spent: Spent.add(learned.spent, spent), ...noted }
    }),
    initial: Effect.fn("ModelProposer.initial")(function* <E>(
      request: InitialRequest<E>
    ): Effect.fn.Return<Proposal, ProposerError | E> {
      return yield* converse(ask, request, options, {
        ...asked("paraphrase", options),
        examples: "",
        method: "",
        history: ""
      })
    })
  }
}

/** The most of the tokens for evidence that go to what was tried: failures say more about the parent. */
const triedShare = 1 / 4

/** A conversation, and the call that continues it. */
type Ask = (conversation: ReadonlyArray<Message>) => {
  readonly atMost: Spent.Spent
  readonly answer: Effect.Effect<ModelAnswer, ProposerError>
}

/** What is asked: a template, how candidates are to be written, and what is shown. */
interface Prompting {
  readonly template: PromptTemplate.PromptTemplate
  readonly format: (tags: ReadonlyArray<string>, count: number, asEdits: boolean) => string
  readonly examples: string
  readonly method: string
  readonly history: string
}

const asked = (kind: PromptTemplate.PromptKind, { prompts }: Options): Pick<Prompting, "template" | "format"> => ({
  template: prompts?.[kind] ?? Prompts.shipped[kind],
  format: (tags, count, asEdits) => Prompts.format(kind, tags, count, asEdits)
})

/** The method to propose by, after the learner has asked what it wants to know, if anything. */
const learn = Effect.fnUntraced(function* <E>(
  ask: Ask,
  { makeCall = (_, answer) => answer, ...request }: ProposeRequest<E>,
  { learner }: Options,
  standard: string
): Effect.fn.Return<Pick<Proposal, "notes" | "spent"> & { readonly method: string }, ProposerError | E> {
  if (learner === undefined) return { method: standard, spent: Spent.nothing }
  const { question, read } = learner.learn(request, standard)
  if (question === null) return { ...read(null), spent: Spent.nothing }
  const { answer, atMost } = ask([{ role: "user", text: question }])
  const { end, spent, text } = yield* makeCall({ key: [...request.stream, "learning"].join("/"), atMost }, answer)
  return { ...read(end === "refused" || end === "cut" ? null : text), spent }
})

/** Asks, and asks once more for what is missing. */
const converse = Effect.fnUntraced(function* <E>(
  ask: Ask,
  request: InitialRequest<E>,
  options: Options,
  { format, template, ...evidence }: Prompting
): Effect.fn.Return<Proposal, ProposerError | E> {
  const { count, makeCall = (_, answer) => answer, parent, stream } = request
  const tags = tagsOf(request)
  // Edits are of a text that the proposer sees; the paper, which has no rules, asks for whole texts.
  const asEdits =
    request.rules !== undefined &&
    CandidateEdits.areFor(parent.text) &&
    PromptTemplate.holds(template, "parent") &&
    PromptTemplate.holds(template, "format")
  const call = (index: number, conversation: ReadonlyArray<Message>) => {
    const { answer, atMost } = ask(conversation)
    return Effect.flatMap(
      makeCall({ key: [...stream, index].join("/"), atMost }, answer),
      usable(options.kind, asEdits ? parent.text : null)
    )
  }

  const prompt = PromptTemplate.render(template, {
    ...evidence,
    parent: Evidence.withoutPromptTags(parent.text),
    count: String(count),
    tags: Prompts.tagList(tags),
    format: format(tags, count, asEdits)
  })
  const first = yield* call(0, [{ role: "user", text: prompt }])
  const { accepted, rejected } = CandidateLint.lint(first.candidates, request.rules)
  if (accepted.length >= (request.rules === undefined ? Math.min(1, count) : count)) return proposal(first)

  const missing = count - accepted.length
  const form = PromptTemplate.isWhole(template) ? Prompts.sameFormat : format(tags, missing, asEdits)
  const demand = Prompts.repair([...first.rejected, ...rejected], missing, form)
  const second = yield* Effect.result(
    call(1, [
      { role: "user", text: prompt },
      // Some servers refuse an empty message.
      { role: "assistant", text: first.text === "" ? "(no text)" : first.text },
      { role: "user", text: demand }
    ])
  )
  if (second._tag === "Success") {
    const both = {
      critique: first.critique === "" ? second.success.critique : first.critique,
      candidates: [...first.candidates, ...second.success.candidates],
      rejected: [...first.rejected, ...second.success.rejected],
      spent: Spent.add(first.spent, second.success.spent)
    }
    return isEmpty(both) ? yield* nothingFound(options.kind, second.success, both.spent) : proposal(both)
  }
  // What the first answer brought is not given up because the second one failed.
  const { failure } = second
  if (isEmpty(first) || !isProposerError(failure)) return yield* Effect.fail(failure)
  return {
    ...proposal(first),
    failure: failure.failure,
    spent: Spent.add(first.spent, failure.spent ?? Spent.nothing)
  }
})

interface Found {
  readonly critique: string
  readonly candidates: ReadonlyArray<Instruction.Candidate>
  readonly rejected: ReadonlyArray<CandidateLint.Rejection>
}

/** Reads the candidates of an answer, written as edits of `original` unless that is null; a refusal is an error. */
const usable =
  (proposer: string, original: string | null) =>
  (answer: ModelAnswer): Effect.Effect<ModelAnswer & Found, ProposerError> => {
    if (answer.end === "refused") return Effect.fail(refused(proposer, answer))
    const { critique, texts } = CandidateParser.parse(answer.text, { isCut: answer.end !== "done" })
    const [revisions, rejected] = Arr.separate(
      texts.map((text) =>
        Result.mapError(
          original === null ? Result.succeed(text) : CandidateEdits.revise(original, text),
          (reason): CandidateLint.Rejection => ({ text, reason })
        )
      )
    )
    return Effect.succeed({
      ...answer,
      critique,
      candidates: revisions.map((text) => ({ text, rationale: "" })),
      rejected
    })
  }

const isEmpty = ({ candidates, rejected }: Found): boolean => candidates.length + rejected.length === 0

const proposal = ({ candidates, critique, rejected, spent }: Found & Pick<Proposal, "spent">): Proposal => ({
  candidates,
  critique,
  ...(rejected.length === 0 ? {} : { rejected }),
  spent
})

const tagsOf = ({ parent, rules }: InitialRequest<unknown>): ReadonlyArray<string> =>
  CandidateLint.tagNames(rules?.seed ?? parent.text)

const isProposerError = (error: unknown): error is ProposerError => error instanceof ProposerError

/** Calls to a model, their cost known before at the most and after as it was. */
const asking =
  (model: LanguageModel.LanguageModel, options: Options): Ask =>
  (conversation) => {
    const prompt = conversation.map(({ text }) => text)
    const answer = Effect.gen(function* () {
      const [result, spent] = yield* Metering.measure(options)(
        prompt,
        model.generateText({ prompt: conversation.map(({ role, text }) => ({ role, content: text })) })
      )
      if (Result.isFailure(result)) return yield* fromAiError(options.kind, result.failure, spent)
      return { text: answerOf(result.success), end: ends[result.success.finishReason] ?? "other", spent }
    })
    return { atMost: Metering.atMost(options, prompt, options.requests), answer }
  }

const ends: Readonly<Partial<Record<Response.FinishReason, AnswerEnd>>> = {
  stop: "done",
  length: "cut",
  "content-filter": "refused"
}

/** What the model said after its thoughts; servers that cannot distinguish the two may have put all into the thoughts. */
const answerOf = ({
  reasoningText = "",
  text
}: Pick<LanguageModel.GenerateTextResponse<{}>, "text" | "reasoningText">) => {
  // A candidate may speak of the tags of thoughts.
  const answer = Thoughts.strip(text, (rest) => CandidateParser.parse(rest).texts.length > 0).trim()
  return answer === "" && CandidateParser.parse(reasoningText).texts.length > 0 ? reasoningText.trim() : answer
}

/** The language model could not be asked, or not be understood. */
const fromAiError = (proposer: string, error: AiError.AiError, spent: Spent.Spent): ProposerError =>
  new ProposerError({ proposer, kind: Provider.kindOf(error), reason: Provider.explain(error), spent })

/** The proposer, or a filter of its provider, declined. */
const refused = (proposer: string, { spent, text }: ModelAnswer): ProposerError =>
  new ProposerError({
    proposer,
    kind: "refused",
    spent,
    reason:
      `the proposer's model refused to write${text === "" ? "" : ` (${excerpt(text)})`}; ` +
      "look at the questions and passages of the failures, or choose another model"
  })

/** Nothing was found between tags, also after asking again. */
const nothingFound = (
  proposer: string,
  { end, text }: Pick<ModelAnswer, "end" | "text">,
  spent: Spent.Spent
): ProposerError => {
  if (end === "cut")
    return new ProposerError({
      proposer,
      kind: "cut",
      spent,
      reason:
        "the proposer's model reached the limit of tokens before its first candidate was complete, twice; " +
        "raise maxOutputTokens, which covers its thoughts too"
    })
  if (text.trim() === "")
    return new ProposerError({
      proposer,
      kind: "empty",
      spent,
      reason: "the proposer's model answered with no text, twice; raise maxOutputTokens, or choose another model"
    })
  return new ProposerError({
    proposer,
    kind: "no-candidates",
    spent,
    reason:
      `no candidate could be found in what the proposer's model wrote (${excerpt(text)}), twice; expected <ins_1>…</ins_1>. ` +
      "Choose a more capable model, or look at the prompts"
  })
}

const excerpt = (text: string): string => {
  const line = text.trim().replace(/\s+/gu, " ")
  return PlainText.escape(JSON.stringify(line.length <= 120 ? line : `${line.slice(0, 120)}…`))
}
