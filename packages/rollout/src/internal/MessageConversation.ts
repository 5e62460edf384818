import type { Environment } from "../Agent.ts"
import type { ChatPolicy } from "../ChatPolicy.ts"
import type { Conversation } from "../Conversation.ts"
import type { Episode } from "../Episode.ts"
import * as Observation from "../Observation.ts"
import { ask, call, end, type Program } from "../Program.ts"
import * as Prompt from "../Prompt.ts"
import { type Recorded, Recorder } from "../Recording.ts"
import { cut } from "./Cut.ts"
import { Dialogue } from "./Dialogue.ts"

/** A conversation in messages, with its recording. */
export interface MessageConversation extends Conversation, Recorded {}

type Policy = Pick<ChatPolicy.Interface, "profile" | "countTokens">

/** Starts the conversations of episodes with a chat model. */
export const make =
  (policy: Policy, environment: Environment) =>
  (episode: Episode): MessageConversation =>
    about(episode, policy, environment)

const about = (
  episode: Episode,
  { countTokens, profile: { contextLength } }: Policy,
  { config, toolTexts }: Environment
): MessageConversation => {
  const recorder = new Recorder()
  const dialogue = new Dialogue(countTokens)
  const envelope = countTokens("<information></information>")
  const open: Conversation["open"] = (messages) => {
    if (recorder.transcript.length > 0) throw new RangeError("a conversation can be opened only before its first turn")
    dialogue.open(messages)
  }
  // Lazy, since agents that open the conversation themselves do not need the template.
  const room = () => {
    if (dialogue.messages.length === 0)
      open(Prompt.messages(episode.instruction, episode.question, config, { tools: toolTexts }))
    return contextLength - dialogue.used
  }

  return {
    episode,
    turns: recorder.transcript,
    get room() {
      return room()
    },
    get canShow() {
      return Math.min(config.maxObservationTokens, room() - 1) >= envelope
    },
    *turn(grammar) {
      const isFull = room() <= 0 || (recorder.transcript.length === 0 && dialogue.used > config.maxPromptTokens)
      if (isFull) return yield* end("context-exhausted")
      const answer = yield* ask(`${episode.id}/${recorder.transcript.length}`, dialogue.messages)
      const text = cut(answer.text, grammar)
      const action = grammar.parse(text)
      recorder.write({ text, tokens: [], logprobs: [] }, action)
      dialogue.turn(answer, text)
      return action
    },
    *call(tool, input) {
      const reply = yield* call(tool, input)
      recorder.toolCalls++
      return reply
    },
    *show(text) {
      const shown = Observation.within(countTokens, text, Math.min(config.maxObservationTokens, room() - 1))
      if (shown === null) return yield* end("context-exhausted")
      recorder.show({ text: shown, tokens: [] })
      dialogue.say("user", shown)
    },
    *aside(name, prompt, stop): Program<string | null> {
      if (dialogue.sizeOf(prompt) >= contextLength) return null
      const answer = yield* ask(`${episode.id}/${recorder.transcript.length - 1}/${name}`, prompt)
      recorder.asideTokens += answer.input + answer.output
      return cut(answer.text, { stop })
    },
    open,
    spare: (opened) => {
      const spare = Math.min(config.maxObservationTokens, config.maxPromptTokens - dialogue.sizeOf(opened))
      return spare < envelope ? 0 : spare
    },
    excerpt: (text, limit = config.maxObservationTokens) => Observation.within(countTokens, text, limit) ?? "",
    recording: () => recorder,
    read: () => dialogue.read(recorder)
  }
}
