import { Schema } from "effect"

const Positive = Schema.Int.check(Schema.isGreaterThan(0))

/** The message an instruction stands in: before the question in the user message, or alone in the system message. */
export const InstructionRole = Schema.Literals(["user", "system"])
export type InstructionRole = typeof InstructionRole.Type

/**
 * How an agent uses the policy on a question.
 *
 * - `direct`: it answers, without tools
 * - `rag`: the question is searched for once, what was found stands in the prompt, it answers
 * - `ircot`: as `rag`, and each sentence of its thought is searched for in turn
 * - `search-o1`: as `search-r1`, but it is shown its own condensation of what a tool returned
 * - `search-r1`: it calls tools between its thoughts, turn by turn, until it answers
 */
export const AgentName = Schema.Literals(["direct", "rag", "ircot", "search-o1", "search-r1"])
export type AgentName = typeof AgentName.Type

/**
 * How the `search-r1` agent runs: `robust` is what we defend, `searchr1` what the Search-R1 code does, to the token.
 * Other agents have the robust loop only.
 */
export const Mode = Schema.Literals(["robust", "searchr1"])
export type Mode = typeof Mode.Type

/**
 * How an episode runs. The context length comes from the engine's profile.
 *
 * - `tools`: names of the tools the agent may call; see {@link "./Tool.ts"}.
 * - `maxTurns`: tool calls allowed; one turn more is left for the answer. A turn without a valid action costs one too.
 * - `maxResponseTokens`, `maxObservationTokens`: tokens the policy may write, and may be shown, per turn.
 * - `maxPromptTokens`: a longer prompt ends its episode before the first turn. In the mode `searchr1` also the length of
 *   the rolling context and of the whole response.
 * - `maxStartTokens`: mode `searchr1` trains on the last so many tokens of the prompt.
 * - `topK`: passages per search.
 * - `temperature` (0 is greedy) and `topP`: as the engine samples.
 * - `promptTemplate`: the user message, with `{instruction}`, then `{question}` and, if wanted, `{tools}`: what the tools are.
 * - `passageTemplate`: one passage as text, with `{rank}` from 1, `{title}` and `{text}`; passages are joined by
 *   `passageSeparator`. Mode `searchr1` has its own.
 * - `invalidAction`: what the policy is told after a turn without a valid action. Mode `searchr1` shows it as it stands,
 *   the robust mode between information tags.
 * - `scoredTurns`: whether a turn with broken tags can earn reward (`all`) or is left out of what is scored (`valid`).
 *   Mode `searchr1` scores all.
 * - `toolAttempts`, `toolTimeoutSeconds`: how often a tool is asked, and how long each time, before an episode fails. A
 *   retriever over HTTP repeats its requests by itself besides, within this time.
 */
export const RolloutConfig = Schema.Struct({
  agent: AgentName,
  mode: Mode,
  tools: Schema.Array(Schema.NonEmptyString).check(Schema.isUnique()),
  maxTurns: Schema.Natural,
  maxResponseTokens: Positive,
  maxObservationTokens: Positive,
  maxPromptTokens: Positive,
  maxStartTokens: Positive,
  topK: Positive,
  temperature: Schema.Finite.check(Schema.isGreaterThanOrEqualTo(0)),
  topP: Schema.Finite.check(Schema.isGreaterThan(0), Schema.isLessThanOrEqualTo(1)),
  promptTemplate: Schema.String.check(
    Schema.isPattern(/\{instruction\}.*\{question\}/s, {
      expected: "a text with {instruction} and, after it, {question}"
    })
  ),
  passageTemplate: Schema.String,
  passageSeparator: Schema.String,
  invalidAction: Schema.String,
  instructionRole: InstructionRole,
  scoredTurns: Schema.Literals(["all", "valid"]),
  toolAttempts: Positive,
  toolTimeoutSeconds: Schema.Finite.check(Schema.isGreaterThan(0))
})
export interface RolloutConfig extends Schema.Schema.Type<typeof RolloutConfig> {}

/** The values of the INSPO paper (Appendix B, 3B model) in the robust mode, with passages as `{title}: {text}`. */
export const defaultConfig: RolloutConfig = {
  agent: "search-r1",
  mode: "robust",
  tools: ["search"],
  maxTurns: 4,
  maxResponseTokens: 500,
  maxObservationTokens: 500,
  maxPromptTokens: 4096,
  maxStartTokens: 2048,
  topK: 3,
  temperature: 1,
  topP: 1,
  promptTemplate: "{instruction} Question: {question}",
  passageTemplate: "{title}: {text}",
  passageSeparator: " ",
  invalidAction: "Invalid action. Search with a query or give the answer.",
  instructionRole: "user",
  scoredTurns: "valid",
  toolAttempts: 2,
  toolTimeoutSeconds: 300
}
