import { Schema } from "effect"

const Positive = Schema.Int.check(Schema.isGreaterThan(0))

/** The message an instruction is in: before the question in the user message, or alone in the system message. */
const InstructionRole = Schema.Literals(["user", "system"])
type InstructionRole = typeof InstructionRole.Type

/** The texts of the environment, except those of tools. */
export const Texts = Schema.Struct({
  prompt: Schema.String.check(
    Schema.isPattern(/\{instruction\}.*\{question\}/s, {
      expected: "a text with {instruction} and, after it, {question}"
    })
  ).annotate({
    description:
      "The user message, with `{instruction}`, then `{question}` and optionally `{tools}`, the descriptions of the tools"
  }),
  passage: Schema.String.annotate({
    description:
      "One passage as text, with `{rank}` from 1, `{title}` and `{text}`. The agent `search-r1-exact` has its own"
  }),
  separator: Schema.String.annotate({ description: "What separates passages" }),
  invalidAction: Schema.String.annotate({
    description:
      "What the policy is shown after a turn without a valid action: unchanged with the agent `search-r1-exact`, else " +
      "between information tags"
  }),
  role: InstructionRole.annotate({
    description:
      "The message an instruction is in: before the question in the user message, or alone in the system message"
  })
})
export interface Texts extends Schema.Schema.Type<typeof Texts> {}

/** How an episode runs, whatever its agent. The context length comes from the engine's profile; for the tools see {@link "./Tool.ts"}. */
export const EpisodeConfig = Schema.Struct({
  tools: Schema.Array(Schema.NonEmptyString)
    .check(Schema.isUnique())
    .annotate({ description: "Names of the tools that the agent can call" }),
  maxTurns: Schema.Natural.annotate({
    description:
      "Maximum of tool calls, with one more turn for the answer. A turn without a valid action counts as a call"
  }),
  maxResponseTokens: Positive.annotate({ description: "Most tokens that the policy writes per turn" }),
  maxObservationTokens: Positive.annotate({ description: "Most tokens of observations per turn" }),
  maxPromptTokens: Positive.annotate({
    description:
      "Most tokens of a prompt; a longer prompt ends its episode before its turn. With the agent `search-r1-exact` also " +
      "the limit of the rolling context and of the full response"
  }),
  maxStartTokens: Positive.annotate({
    description: "The agent `search-r1-exact` trains on the last so many tokens of the prompt"
  }),
  topK: Positive.annotate({ description: "Passages per search" }),
  temperature: Schema.Finite.check(Schema.isGreaterThanOrEqualTo(0)).annotate({
    description:
      "Temperature at which the policy is sampled; 0 is greedy. The policy update assumes 1, so other values " +
      "need a frozen policy"
  }),
  topP: Schema.Finite.check(Schema.isGreaterThan(0), Schema.isLessThanOrEqualTo(1)).annotate({
    description: "Probability mass that is sampled from"
  }),
  texts: Texts.annotate({
    description:
      "The texts of the environment: `prompt` (the user message, with `{instruction}`, then `{question}` and, if wanted, " +
      "`{tools}`), `passage` (with `{rank}` from 1, `{title}` and `{text}`), `separator` (between passages), " +
      "`invalidAction` (shown after a turn without a valid action) and `role` (the message an instruction is in: before " +
      "the question in that of the `user`, or alone in that of the `system`). The value can be the path " +
      "of a file with them, and `prompt` can be `{rows: FILE}`, as for `seedInstruction`"
  }),
  scoredTurns: Schema.Literals(["all", "valid"]).annotate({
    description:
      "Whether a turn with broken tags can earn reward (`all`) or is not scored (`valid`). The " +
      "agent `search-r1-exact` scores all turns"
  }),
  toolAttempts: Positive.annotate({ description: "How often a tool call is tried before its episode fails" }),
  toolTimeoutSeconds: Schema.Finite.check(Schema.isGreaterThan(0)).annotate({
    description: "Time limit of a tool call. A retriever over HTTP retries its requests within this time"
  })
})
export interface EpisodeConfig extends Schema.Schema.Type<typeof EpisodeConfig> {}

/** The values of the INSPO paper (Appendix B, 3B model) with passages as `{title}: {text}`. */
export const defaultEpisodeConfig: EpisodeConfig = {
  tools: ["search"],
  maxTurns: 4,
  maxResponseTokens: 500,
  maxObservationTokens: 500,
  maxPromptTokens: 4096,
  maxStartTokens: 2048,
  topK: 3,
  temperature: 1,
  topP: 1,
  texts: {
    prompt: "{instruction} Question: {question}",
    passage: "{title}: {text}",
    separator: " ",
    invalidAction: "Invalid action. Search with a query or give the answer.",
    role: "user"
  },
  scoredTurns: "valid",
  toolAttempts: 2,
  toolTimeoutSeconds: 300
}
