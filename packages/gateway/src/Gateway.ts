import { type Instruction, Invariant } from "@inspo/domain"
import {
  Engine,
  type EngineError,
  type SampledSequence,
  type SampleRequest,
  SharedCalls,
  Stops,
  type TemplateMessage,
  type Tokenizer
} from "@inspo/engine"
import { OpenAiRefusal } from "@inspo/http/server"
import { ActionParser, type Transcription } from "@inspo/rollout"
import { hash, randomUUID } from "node:crypto"
import { Context, Deferred, Effect, Layer, Result } from "effect"
import type { Answered, ChatCall, Choice } from "./ChatCall.ts"
import { Answers, of, type Opened, tokensOf } from "./Context.ts"
import * as Segments from "./Segments.ts"
import * as ToolCallText from "./ToolCallText.ts"

/** Answers the model calls of agents from an engine, and records what the policy wrote, episode by episode. */
export class Gateway extends Context.Service<Gateway, Gateway.Interface>()("@inspo/gateway/Gateway") {}

export declare namespace Gateway {
  export interface Interface {
    /** The name of the model that agents ask for. */
    readonly model: string
    /** Begins an episode: from now on its calls are answered. One that another gateway lends keeps its `name`. */
    readonly open: (episode: Episode, name?: string) => Effect.Effect<OpenEpisode>
    /**
     * Lends an open episode to the gateway of another process, which answers its calls. Refused where another one has answered
     * some: `to` names the loan.
     */
    readonly lend: (name: string, to: string) => Effect.Effect<Episode, OpenAiRefusal.Refusal>
    /** Takes what was recorded under a loan. */
    readonly giveBack: (name: string, to: string, recorded: Recorded) => Effect.Effect<void, OpenAiRefusal.Refusal>
    /** Answers a call within the open episode of this name. */
    readonly call: (name: string, call: ChatCall) => Effect.Effect<Answered, OpenAiRefusal.Refusal>
    /** Fails once the engine has failed a call. */
    readonly failure: Effect.Effect<never, EngineError>
  }
}

/** An episode that an agent plays. `seed` decides every draw; `sampler` names the weights if they are those of another process. */
export interface Episode {
  readonly seed: string
  readonly instruction: Pick<Instruction.Instruction, "text">
  readonly sampler?: string
}

export interface OpenEpisode {
  /** What the address of its calls contains. */
  readonly name: string
  /** Forgets its calls: it is played again. */
  readonly restart: Effect.Effect<void>
  /** Ends it, and returns what was recorded. A call that is still open is not. */
  readonly close: Effect.Effect<Recorded>
}

/** `limit` is the limit that a call was refused for, if any. */
export interface Recorded {
  readonly recording: Transcription.Recording
  readonly limit: "turns-exhausted" | "context-exhausted" | null
}

/** The limits of an episode, in calls and tokens, and how its policy is sampled. */
export interface GatewayOptions {
  readonly maxCalls: number
  readonly maxPromptTokens: number
  readonly maxResponseTokens: number
  readonly temperature: number
  readonly topP: number
  /** Tools that the agent's policy may call in tags, as the agents inside do. */
  readonly tools: ReadonlyArray<string>
}

/**
 * A gateway over an engine.
 *
 * - **Verbatim.** A message that was an answer keeps the tokens that were sampled, see {@link of}.
 * - **Draws** depend on the seed of the episode, the context and how often it was asked about: not on the order of calls. A call that
 *   was given up before it was answered does not count.
 * - **The instruction** replaces each `{{instruction}}` in the messages. Without one, and unless a message has its text, it is put
 *   before the system message.
 * - **Limits.** A call beyond a limit is refused with status 400 and the code `turns_exhausted` or `context_length_exceeded`.
 */
export const layer = (options: GatewayOptions): Layer.Layer<Gateway, never, Engine> =>
  Layer.effect(Gateway, make(options))

const make = Effect.fnUntraced(function* (options: GatewayOptions) {
  const engine = yield* Engine
  const { profile, sample, tokenizer } = engine
  const failure = yield* Deferred.make<never, EngineError>()
  const sampleOne = yield* SharedCalls.make({
    sample: (_: null, requests) =>
      sample(requests).pipe(
        Effect.tapError((error) => Deferred.fail(failure, error)),
        Effect.mapError(OpenAiRefusal.failed)
      ),
    unanswered: () => OpenAiRefusal.refuse(500, "the engine left the request unanswered")
  })
  const grammar = ActionParser.grammar(options.tools)
  const states = new Map<string, State>()
  const stops = Stops.make(engine)
  const plan = planning(engine, stops, options)
  const record = recording(engine, stops)
  // Of an agent that a killed process left, no call reaches an episode of this one.
  const process = randomUUID().slice(0, 8)
  let opened = 0
  const stateOf = (name: string, to: string | null) =>
    Effect.suspend(() => {
      const state = states.get(name)
      return state?.lentTo === to
        ? Effect.succeed(state)
        : OpenAiRefusal.refuse(404, `there is no open episode ${name}`)
    })
  return Gateway.of({
    model: profile.model,
    failure: Deferred.await(failure),
    call: Effect.fnUntraced(function* (name, call) {
      const state = yield* stateOf(name, null)
      const planned = yield* Effect.fromResult(plan(state, call))
      const { sequences } = yield* sampleOne(null, planned.request).pipe(
        Effect.onInterrupt(() => Effect.sync(() => forget(state, planned)))
      )
      const choices = record(state, call, planned, sequences)
      return { choices, promptTokens: planned.request.prompt.length }
    }),
    lend: Effect.fnUntraced(function* (name, to) {
      const state = states.get(name)
      if (state !== undefined && state.calls === 0) state.lentTo ??= to
      const { episode } = yield* stateOf(name, to)
      const { seed, instruction } = episode
      const weights =
        engine.sampler === undefined ? {} : { sampler: yield* Effect.mapError(engine.sampler, OpenAiRefusal.failed) }
      return { seed, instruction: { text: instruction.text }, ...weights }
    }),
    giveBack: (name, to, recorded) =>
      Effect.map(stateOf(name, to), (state) => {
        state.returned = recorded
      }),
    open: (episode, name = `${process}-${opened++}`) =>
      Effect.suspend(() => {
        const restart = Effect.sync(() => {
          const empty = { answers: new Answers(), asked: new Map(), calls: 0, limit: null }
          states.set(name, { episode, ...empty, lentTo: null, returned: null })
        })
        const close = Effect.sync(() => {
          const { answers, limit, returned } = Invariant.get(states, name, "episode")
          states.delete(name)
          return returned ?? { recording: Segments.recording(answers.all, tokenizer, grammar), limit }
        })
        return Effect.as(restart, { name, restart, close })
      })
  })
})

/** An open episode; `asked` counts the calls of each context. */
interface State {
  readonly episode: Episode
  readonly answers: Answers
  readonly asked: Map<string, number>
  calls: number
  limit: Recorded["limit"]
  /** The loan under which another gateway answers its calls, and what was recorded there. */
  lentTo: string | null
  returned: Recorded | null
}

/** What is sampled for a call; `times` counts the calls of the same context before it. */
interface Planned extends Opened {
  readonly request: SampleRequest
  readonly rank: number
  /** Names the context. */
  readonly key: string
  readonly times: number
}

type StopTexts = ReturnType<typeof Stops.make>

/** Finds the context of a call, if it is within the limits. */
const planning = ({ profile, tokenizer }: Engine.Interface, stops: StopTexts, options: GatewayOptions) => {
  const escaped = (message: TemplateMessage): TemplateMessage =>
    message.role === "tool" && tokenizer.escape !== undefined
      ? { ...message, content: tokenizer.escape(message.content) }
      : message
  return (state: State, call: ChatCall): Result.Result<Planned, OpenAiRefusal.Refusal> => {
    if (state.calls >= options.maxCalls) {
      state.limit ??= "turns-exhausted"
      return limited("turns_exhausted", `the episode has made its ${options.maxCalls} calls`)
    }
    state.calls++
    const messages = placed(call.messages, state.episode.instruction.text).map(escaped)
    const opened = of({ messages, tools: call.tools }, state.answers, tokenizer)
    const prompt = tokensOf(opened.context)
    const room = profile.contextLength - prompt.length
    const most =
      opened.context.parent === null ? Math.min(options.maxPromptTokens, profile.contextLength - 1) : Infinity
    if (room < 1 || prompt.length > most) {
      state.limit ??= "context-exhausted"
      const expected = `expected at most ${Math.min(most, profile.contextLength - 1)}`
      return limited("context_length_exceeded", `the messages have ${prompt.length} tokens, ${expected}`)
    }
    const key = hash("sha256", new Uint32Array(prompt)).slice(0, 16)
    const times = state.asked.get(key) ?? 0
    state.asked.set(key, times + 1)
    const request = {
      prompt,
      n: call.n,
      stop: stops.taken(call.stop),
      maxTokens: Math.min(call.maxTokens ?? Infinity, options.maxResponseTokens, room),
      temperature: options.temperature,
      topP: options.topP,
      seed: `${state.episode.seed}/${key}/${times}`,
      ...(state.episode.sampler === undefined ? {} : { sampler: state.episode.sampler })
    }
    return Result.succeed({ ...opened, request, key, times, rank: state.answers.rank })
  }
}

/** A call whose agent has gone: when it comes again, it is the same one. */
const forget = (state: State, { key, times }: Planned) => {
  state.calls--
  if (state.asked.get(key) === times + 1) state.asked.set(key, times)
}

/** Records what was sampled for a call, and returns it as its agent gets it. */
const recording =
  ({ tokenizer }: Engine.Interface, stops: StopTexts) =>
  (
    { answers }: State,
    call: ChatCall,
    { begun, context, opened, rank, request, times }: Planned,
    sequences: ReadonlyArray<SampledSequence>
  ): ReadonlyArray<Choice> =>
    sequences.map((sampled, index) => {
      const sequence = stops.enforce(sampled, call.stop)
      const choice = choiceOf(sequence, call, `${request.seed}/${index}`, tokenizer)
      answers.add({
        context,
        tokens: sequence.tokens,
        logprobs: sequence.logprobs,
        choice,
        opened,
        written: begun + tokenizer.decode(sequence.tokens),
        sent: begun + choice.content,
        rank,
        ordinal: times + index / sequences.length
      })
      return choice
    })

const choiceOf = (sequence: SampledSequence, call: ChatCall, id: string, tokenizer: Tokenizer): Choice => {
  const { logprobs, stopReason, tokens } = sequence
  const { stoppedAt, text } = Stops.textOf(sequence, call.stop, tokenizer)
  const cut = call.keepsStop && stoppedAt !== null ? tokenizer.decode(tokens) : text
  const { calls, content } = call.tools.length === 0 ? { calls: [], content: cut } : ToolCallText.read(cut)
  return {
    content,
    calls: calls.map((one, index) => ({ id: `call_${hash("sha256", id).slice(0, 16)}_${index}`, ...one })),
    ended: calls.length > 0 ? "calls" : stopReason,
    stoppedAt,
    tokens,
    logprobs
  }
}

const limited = (code: string, reason: string) => Result.fail(new OpenAiRefusal.Refusal({ status: 400, code, reason }))

/** Puts the instruction where the agent has its mark, or else before the system message. */
const placed = (messages: ReadonlyArray<TemplateMessage>, instruction: string): ReadonlyArray<TemplateMessage> => {
  if (messages.some(({ content }) => content.includes(mark)))
    return messages.map((message) => ({ ...message, content: message.content.replaceAll(mark, () => instruction) }))
  if (messages.some(({ content, role }) => role !== "assistant" && content.includes(instruction))) return messages
  const [first, ...rest] = messages
  return first?.role === "system"
    ? [{ ...first, content: `${instruction}\n\n${first.content}` }, ...rest]
    : [{ role: "system", content: instruction }, ...messages]
}

const mark = "{{instruction}}"
