import { Schema } from "effect"

const Positive = Schema.Int.check(Schema.isGreaterThan(0))

/** The message an instruction stands in: before the question in the user message, or alone in the system message. */
export const InstructionRole = Schema.Literals(["user", "system"])
export type InstructionRole = typeof InstructionRole.Type

/**
 * How an episode runs. The context length comes from the engine's profile.
 *
 * - `maxTurns`: searches allowed; one turn more is left for the answer. A turn without a valid action costs one too.
 * - `maxResponseTokens`, `maxObservationTokens`: tokens the policy may write, and may be shown, per turn.
 * - `maxPromptTokens`: a longer prompt ends its episode before the first turn.
 * - `topK`: passages per search.
 * - `temperature` (0 is greedy) and `topP`: as the engine samples.
 * - `passageTemplate`: one passage as text, with `{rank}` from 1, `{title}` and `{text}`; passages are joined by
 *   `passageSeparator`.
 */
export const RolloutConfig = Schema.Struct({
  maxTurns: Schema.Natural,
  maxResponseTokens: Positive,
  maxObservationTokens: Positive,
  maxPromptTokens: Positive,
  topK: Positive,
  temperature: Schema.Finite.check(Schema.isGreaterThanOrEqualTo(0)),
  topP: Schema.Finite.check(Schema.isGreaterThan(0), Schema.isLessThanOrEqualTo(1)),
  passageTemplate: Schema.String,
  passageSeparator: Schema.String,
  instructionRole: InstructionRole
})
export interface RolloutConfig extends Schema.Schema.Type<typeof RolloutConfig> {}

/** The values of the INSPO paper (Appendix B, 3B model), with passages written as `{title}: {text}`. */
export const defaultConfig: RolloutConfig = {
  maxTurns: 4,
  maxResponseTokens: 500,
  maxObservationTokens: 500,
  maxPromptTokens: 4096,
  topK: 3,
  temperature: 1,
  topP: 1,
  passageTemplate: "{title}: {text}",
  passageSeparator: " ",
  instructionRole: "user"
}
