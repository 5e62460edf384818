import { type Chat, Thoughts } from "@inspo/domain"
import type { ChatAnswer, ChatPolicy } from "../ChatPolicy.ts"
import type { Agent, Conversation, Environment } from "../Agent.ts"
import { ask, call, end, type Episode, type Playing, type Program, start } from "../Episode.ts"
import type { EpisodeConfig } from "../EpisodeConfig.ts"
import * as Observation from "../Observation.ts"
import * as Prompt from "../Prompt.ts"
import { definition, type Tool } from "../Tool.ts"
import { type Recorded, Recorder } from "../Transcription.ts"
import { cut } from "./Cut.ts"
import { chatMessage, Dialogue } from "./Dialogue.ts"
import { type Drafting, turns } from "./Drafts.ts"
import * as NativeTurns from "./NativeTurns.ts"

type Policy = Pick<ChatPolicy.Interface, "profile" | "countTokens">

/** The environment of an agent, with the tools that there are. */
interface Setting extends Environment {
  readonly tools: ReadonlyMap<string, Tool>
}

/** Starts the episodes of an agent with a chat model: each is played to the first step of its program. */
export const begin = (agent: Agent, policy: Policy, setting: Setting) => {
  const native = nativeTools(policy, setting)
  const run = agent.make(setting)
  return (episode: Episode, index: number): Playing => {
    const conversation = make(episode, policy, setting, native)
    return start(run(conversation), conversation, { episode, index, isRescored: false })
  }
}

const make = (
  episode: Episode,
  { countTokens, profile: { contextLength } }: Policy,
  { config, toolTexts }: Environment,
  native: ReturnType<typeof nativeTools>
): Conversation & Recorded => {
  const recorder = new Recorder()
  const dialogue = new Dialogue(countTokens)
  const envelope = countTokens(Observation.empty)
  const aside = asides(episode, recorder)
  const beginning = beginnings(recorder, dialogue)
  // Lazy, since agents that open the conversation themselves do not need the template.
  const room = () => {
    if (dialogue.messages.length === 0)
      beginning.open(Prompt.messages(episode.instruction, episode.question, config, { tools: toolTexts }))
    return contextLength - dialogue.used
  }
  /** The policy's next message, to the tools of these names. */
  function* write(names: ReadonlyArray<string>, name: string) {
    const { definitions, size } = native.of(names)
    const isFull = room() <= size || (recorder.isFresh && dialogue.used + size > config.maxPromptTokens)
    if (isFull) return yield* end("context-exhausted")
    dialogue.settle()
    return withoutThoughts(yield* ask(`${episode.id}/${name}`, { messages: dialogue.messages, tools: definitions }))
  }

  return {
    episode,
    turns: recorder.transcript,
    ...withoutTokens,
    get room() {
      return room()
    },
    get canShow() {
      return Math.min(config.maxObservationTokens, room() - 1) >= envelope
    },
    announce: (budget) => recorder.announce(budget),
    *call(tool, input) {
      const rejection = dialogue.current?.rejection ?? null
      if (rejection !== null) return rejection
      const reply = yield* call(tool, input)
      recorder.toolCalls++
      return reply
    },
    *show(text) {
      const shown = Observation.within(countTokens, text, Math.min(config.maxObservationTokens, room() - 1))
      if (shown === null) return yield* end("context-exhausted")
      recorder.show({ text: shown, tokens: [] })
      dialogue.show(shown)
    },
    *aside(name, prompt, stop) {
      if (dialogue.sizeOf(prompt) >= contextLength) return null
      return yield* aside(`${recorder.transcript.length - 1}/${name}`, prompt.map(chatMessage), stop)
    },
    *peek(text, stop) {
      const hasRoom = room() > countTokens(text)
      const key = `${recorder.transcript.length}/peek`
      return recorder.peeked(hasRoom ? yield* aside(key, dialogue.with("user", text), stop) : null)
    },
    ...turns(recorder, drafting(recorder, dialogue, native, write)),
    ...beginning,
    ...excerpts(dialogue, countTokens, config),
    recording: () => recorder,
    read: () => dialogue.read(recorder)
  }
}

/** The policy's next turn: of its last message, or of the next one. A grammar of native calls has no drafts. */
const drafting = (
  recorder: Recorder,
  dialogue: Dialogue,
  { among }: Pick<ReturnType<typeof nativeTools>, "among">,
  write: (tools: ReadonlyArray<string>, name: string) => Program<ChatAnswer>
): Drafting =>
  function* (grammar, name) {
    const { native } = grammar
    const answer = dialogue.next() ?? (yield* write(native ?? [], name))
    const record = ({ action, text }: Pick<NativeTurns.NativeTurn, "action" | "text">) =>
      recorder.write({ text, tokens: [], logprobs: [] }, action)
    if ("action" in answer || native !== undefined) {
      const turn =
        "action" in answer ? answer : dialogue.wrote(answer, NativeTurns.make(answer, among(native ?? []), grammar))
      return { text: turn.text, action: turn.action, size: 0, take: () => record(turn) }
    }
    const text = cut(answer.text, grammar)
    const action = grammar.parse(text)
    const take = () => {
      dialogue.turn(answer, text)
      record({ text, action })
    }
    return { text, action, size: answer.input + answer.output, take }
  }

const withoutTokens: Pick<Conversation, "isCut" | "tokens"> = { tokens: [], isCut: false }

/** An answer as the turn of an agent: its instruction may ask for `<think>`, which is then a part of the turn. */
const withoutThoughts = (answer: ChatAnswer): ChatAnswer =>
  /^\s*<think>/u.test(answer.text) ? answer : { ...answer, text: Thoughts.strip(answer.text) }

/** What is asked outside the conversation. */
const asides = (episode: Episode, recorder: Recorder) =>
  function* (key: string, messages: ReadonlyArray<Chat.ChatMessage>, stop: ReadonlyArray<string>): Program<string> {
    const answer = yield* ask(`${episode.id}/${key}`, { messages, tools: [] })
    recorder.asideTokens += answer.input + answer.output
    return cut(Thoughts.strip(answer.text), { stop })
  }

/** How segments begin. */
const beginnings = (recorder: Recorder, dialogue: Dialogue): Pick<Conversation, "open" | "restart"> => ({
  open: (messages, start) => {
    if (recorder.transcript.length > 0) throw new RangeError("a conversation can be opened only before its first turn")
    // Few servers continue a message of the assistant.
    dialogue.open(start === undefined ? messages : Prompt.added(messages, `Begin with ${start}`))
  },
  restart: (messages, observation) => {
    recorder.restart(
      [],
      messages.map(({ content }) => content),
      observation
    )
    dialogue.restart(messages)
  }
})

/** The parts of texts that a conversation has room for. */
const excerpts = (
  dialogue: Dialogue,
  countTokens: Policy["countTokens"],
  { maxObservationTokens, maxPromptTokens }: EpisodeConfig
): Pick<Conversation, "excerpt" | "spare"> => ({
  spare: (opened) => {
    const spare = Math.min(maxObservationTokens, maxPromptTokens - dialogue.sizeOf(opened))
    return spare < countTokens(Observation.empty) ? 0 : spare
  },
  excerpt: (text, limit = maxObservationTokens) => Observation.within(countTokens, text, limit) ?? ""
})

/** The tools by name, and their definitions with the tokens of these, as estimated. */
const nativeTools = ({ countTokens }: Policy, { tools }: Setting) => {
  const among = (names: ReadonlyArray<string>) => new Map(names.flatMap((name) => entry(name, tools.get(name))))
  return {
    among,
    of: (names: ReadonlyArray<string>) => {
      const definitions = Array.from(among(names).values(), definition)
      return { definitions, size: definitions.length === 0 ? 0 : countTokens(JSON.stringify(definitions)) }
    }
  }
}

const entry = (name: string, tool: Tool | undefined): ReadonlyArray<readonly [string, Tool]> =>
  tool === undefined ? [] : [[name, tool]]
