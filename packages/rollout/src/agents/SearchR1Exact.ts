import { Result } from "effect"
import type { Agent } from "../Agent.ts"
import * as Observation from "../Observation.ts"
import * as Prompt from "../Prompt.ts"
import * as SearchR1 from "../SearchR1.ts"
import type { Setting, Transcription } from "../Transcription.ts"
import * as ToolLoop from "./ToolLoop.ts"

/** The agent `search-r1-exact`: the loop of the Search-R1 code, token by token. The turn after `maxTurns` searches nothing. */
export const agent: Agent<"search-r1-exact"> = {
  name: "search-r1-exact",
  description: "is `search-r1` with exactly the tokens of the Search-R1 code",
  source: "Search-R1, arXiv 2503.09516",
  protocol: "tokens",
  tools: () => ["search"],
  requiredTools: ["search"],
  transcription: (setting) => transcription(setting),
  passagesText: SearchR1.passagesText,
  sharesCalls: false,
  scoredTurns: "all",
  answerScope: "searchr1",
  // Its context rolls on, so an episode may be longer.
  maximumTokens: (limits) => ToolLoop.maximumTokens(limits),
  make: ({ config, toolTexts: tools }) =>
    function* (conversation) {
      const { instruction, question } = conversation.episode
      const asked = { ...question, question: SearchR1.question(question.question) }
      conversation.open(Prompt.messages(instruction, asked, config, { tools }))
      for (;;) {
        // Stop texts are cut off by the transcription.
        const action = yield* conversation.turn({ stop: [], parse: SearchR1.parse })
        if (action.kind === "answer") return "answered"
        if (conversation.turns.length > config.maxTurns) return ToolLoop.exhausted(conversation, action.kind)
        if (action.kind === "invalid") yield* conversation.show(config.texts.invalidAction)
        else {
          const reply = yield* conversation.call(action.kind, action.content)
          yield* conversation.show(SearchR1.information(Result.isSuccess(reply) ? reply.success : reply.failure.reason))
        }
      }
    }
}

/**
 * - A turn is cut after it was sampled (see `SearchR1.cut`) and tokenised again, without the end of sequence.
 * - Texts of the environment are cut to their first `maxObservationTokens` tokens, closing tag or not, and their tags are
 *   not neutralised.
 * - The policy sees the last `maxPromptTokens` tokens of prompt and response. A shorter context lowers this so that
 *   `maxResponseTokens` stay free.
 * - Kept are the last `maxStartTokens` tokens of the prompt and the first `maxPromptTokens` of the response, as far as both
 *   fit in the context; log-probabilities are the trainer's.
 */
const transcription = ({ config, contextLength, tokenizer }: Setting): Transcription => {
  const window = Math.max(1, Math.min(config.maxPromptTokens, contextLength - config.maxResponseTokens))
  return {
    seen: ({ prompt, response, transcript }) =>
      transcript.length === 0 ? prompt : prompt.concat(response).slice(-window),
    written: ({ tokens: sampled }) => {
      const text = SearchR1.cut(tokenizer.decode(sampled.filter((token) => token !== tokenizer.endOfSequence)))
      const tokens = tokenizer.encode(text)
      return { text, tokens, logprobs: tokens.map(() => 0) }
    },
    shown: (text) => {
      const limit = config.maxObservationTokens
      const tokens = Observation.encodeStart(tokenizer, text, limit).slice(0, limit)
      return { tokens, text: tokenizer.decode(tokens) }
    },
    kept: (recording) => {
      const prompt = recording.prompt.slice(-config.maxStartTokens)
      const length = Math.min(config.maxPromptTokens, contextLength - prompt.length)
      const cut = recording.prompt.length - prompt.length + Math.max(0, recording.response.length - length)
      return {
        ...recording,
        // Trained on or not, these tokens were paid for.
        asideTokens: recording.asideTokens + cut,
        prompt,
        response: recording.response.slice(0, length),
        logprobs: recording.logprobs.slice(0, length),
        mask: recording.mask.slice(0, length)
      }
    },
    isRescored: true
  }
}
