import type { Message, SampledSequence, SampleRequest, Tokenizer } from "@inspo/engine"
import type { Agent, Conversation, Environment } from "../Agent.ts"
import { call, demonstrated, end, type Episode, type Playing, type Program, sample, start } from "../Episode.ts"
import type { EpisodeConfig } from "../EpisodeConfig.ts"
import * as Observation from "../Observation.ts"
import * as Prompt from "../Prompt.ts"
import * as Transcription from "../Transcription.ts"
import { type Drafting, turns } from "./Drafts.ts"

/** Starts the episodes of an agent on an engine's tokens: each is played to the first step of its program. */
export const begin = (agent: Agent, setting: Transcription.Setting & Environment) => {
  const transcription = (agent.transcription ?? Transcription.verbatim)(setting)
  const envelope = Observation.envelope(setting.tokenizer)
  const run = agent.make(setting)
  return (episode: Episode, index: number): Playing => {
    const conversation = make(episode, setting, transcription, envelope)
    const { demonstration } = episode
    const play = function* (): Program {
      const program = run(conversation)
      return yield* demonstration === undefined ? program : demonstrated(setting.tokenizer, demonstration, program)
    }
    const isRescored = transcription.isRescored || demonstration !== undefined
    return start(play(), conversation, { episode, index, isRescored })
  }
}

const make = (
  episode: Episode,
  { config, contextLength, tokenizer, toolTexts }: Transcription.Setting & Environment,
  transcription: Transcription.Transcription,
  envelope: number
): Conversation & Transcription.Recorded => {
  const recorder = new Transcription.Recorder()
  let isOpen = false
  const open = (messages: ReadonlyArray<Message>, start = "") => {
    if (recorder.transcript.length > 0) throw new RangeError("a conversation can be opened only before its first turn")
    recorder.prompt = tokenizer.prompt(messages).concat(tokenizer.encode(start))
    isOpen = true
  }
  // Lazy, since agents that open the conversation themselves do not need the template.
  const recorded = (): Transcription.Recorder => {
    if (!isOpen) open(Prompt.messages(episode.instruction, episode.question, config, { tools: toolTexts }))
    return recorder
  }
  const restart: Conversation["restart"] = (messages, observation, start = []) => {
    const texts = [...messages.map(({ content }) => content), ...(start.length === 0 ? [] : [tokenizer.decode(start)])]
    recorder.restart(tokenizer.prompt(messages).concat(start), texts, observation)
    isOpen = true
  }
  const room = () => contextLength - recorded().prompt.length - recorder.response.length
  const request = requests(episode, config, contextLength)
  const asides = outside(recorder, { config, tokenizer }, request, (text) => [
    transcription.seen(recorded()),
    transcription.shown(text, room())
  ])

  return {
    episode,
    turns: recorder.transcript,
    get tokens() {
      return recorder.written()
    },
    get isCut() {
      return recorder.isCut
    },
    get room() {
      return room()
    },
    get canShow() {
      return Math.min(config.maxObservationTokens, room() - 1) >= envelope
    },
    announce: (budget) => recorder.announce(budget),
    *call(tool, input) {
      const reply = yield* call(tool, input)
      recorder.toolCalls++
      return reply
    },
    *show(text) {
      const observation = transcription.shown(text, room())
      if (observation === null) return yield* end("context-exhausted")
      recorder.show(observation)
    },
    ...turns(recorder, drafting(recorder, { config, contextLength, tokenizer }, transcription, request, recorded)),
    ...asides,
    open,
    restart,
    ...excerpts(tokenizer, config, envelope),
    recording: () => transcription.kept(recorded().recording()),
    read: () => Transcription.readTokens(transcription.kept(recorded().recording()), tokenizer)
  }
}

const drafting = (
  recorder: Transcription.Recorder,
  { config, contextLength, tokenizer }: Transcription.Setting,
  transcription: Transcription.Transcription,
  request: ReturnType<typeof requests>,
  recorded: () => Transcription.Recorder
): Drafting =>
  function* (grammar, name) {
    const seen = transcription.seen(recorded())
    if (isTooLong(recorder, config, seen) || seen.length >= contextLength) return yield* end("context-exhausted")
    const asked = request(seen, name, grammar.stop, grammar.maxTokens)
    const sampled = yield* grammar.goesOn === undefined
      ? sample(asked)
      : sampleInParts(asked, grammar.goesOn, tokenizer)
    const isCut = sampled.stopReason === "length"
    // Grammars may ask for it.
    recorder.isCut = isCut
    const written = transcription.written(sampled)
    const action = grammar.parse(written.text)
    const take = () => {
      recorder.isCut = isCut
      recorder.write(written, action)
    }
    return { text: written.text, action, take, size: seen.length + sampled.tokens.length }
  }

/** Only what a segment begins with is bounded as a prompt. */
const isTooLong = (recorder: Transcription.Recorder, config: EpisodeConfig, seen: ReadonlyArray<number>): boolean =>
  recorder.isFresh && seen.length > config.maxPromptTokens

/** What is sampled outside the conversation. */
const outside = (
  recorder: Transcription.Recorder,
  { config, tokenizer }: Pick<Transcription.Setting, "config" | "tokenizer">,
  request: ReturnType<typeof requests>,
  shown: (text: string) => readonly [seen: ReadonlyArray<number>, Observation.Observation | null]
): Pick<Conversation, "aside" | "peek"> => {
  const write = function* (asked: SampleRequest): Program<string | null> {
    if (asked.maxTokens < 1) return null
    const { tokens } = yield* sample(asked)
    recorder.asideTokens += asked.prompt.length + tokens.length
    return tokenizer.decode(tokens)
  }
  return {
    *aside(name, messages, stop) {
      return yield* write(request(tokenizer.prompt(messages), `${recorder.transcript.length - 1}/${name}`, stop))
    },
    *peek(text, stop) {
      const [seen, observation] = shown(text)
      const hasRoom = observation !== null && !isTooLong(recorder, config, seen)
      const asked = request(seen.concat(observation?.tokens ?? []), `${recorder.transcript.length}/peek`, stop)
      return recorder.peeked(hasRoom ? yield* write(asked) : null)
    }
  }
}

/** The parts of texts that a conversation has room for. */
const excerpts = (
  tokenizer: Tokenizer,
  { maxObservationTokens, maxPromptTokens }: EpisodeConfig,
  envelope: number
): Pick<Conversation, "excerpt" | "spare"> => ({
  spare: (messages) => {
    const spare = Math.min(maxObservationTokens, maxPromptTokens - tokenizer.prompt(messages).length)
    return spare < envelope ? 0 : spare
  },
  excerpt: (text, limit = maxObservationTokens) => Observation.make(tokenizer, text, limit).text
})

/** What the policy is asked to write. */
const requests =
  (episode: Episode, config: EpisodeConfig, contextLength: number) =>
  (prompt: ReadonlyArray<number>, seed: string, stop: ReadonlyArray<string>, most = Infinity): SampleRequest => ({
    prompt,
    n: 1,
    stop,
    maxTokens: Math.min(most, config.maxResponseTokens, contextLength - prompt.length),
    temperature: config.temperature,
    topP: config.topP,
    seed: `${episode.seed}/${seed}`
  })

/** Samples a sequence that continues where it was stopped, each part by its own draw. */
function* sampleInParts(
  request: SampleRequest,
  goesOn: (text: string) => ReadonlyArray<string>,
  { decode, endOfSequence }: Tokenizer
): Program<SampledSequence> {
  let sequence: SampledSequence = { tokens: [], logprobs: [], stopReason: "stop" }
  let { stop } = request
  do {
    const { logprobs, tokens } = sequence
    const part = yield* sample({
      ...request,
      prompt: request.prompt.concat(tokens),
      stop,
      maxTokens: request.maxTokens - tokens.length,
      seed: `${request.seed}/${tokens.length}`
    })
    sequence = { ...part, tokens: tokens.concat(part.tokens), logprobs: logprobs.concat(part.logprobs) }
    const isEnded = part.stopReason === "length" || part.tokens.at(-1) === endOfSequence
    stop = isEnded || sequence.tokens.length === request.maxTokens ? [] : goesOn(decode(sequence.tokens))
  } while (stop.length > 0)
  return sequence
}
