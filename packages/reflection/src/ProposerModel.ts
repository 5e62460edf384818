import { Schema } from "effect"

const PositiveInt = Schema.Int.check(Schema.isGreaterThan(0))
const NonNegative = Schema.Finite.check(Schema.isGreaterThanOrEqualTo(0))

/** Who can write candidates: the rules that need no server, or a language model behind one of four protocols. */
export const ModelProvider = Schema.Literals(["offline", "openai-compatible", "openai", "anthropic", "google"])
export type ModelProvider = typeof ModelProvider.Type

/** What a model costs, in US dollars per million tokens. */
export const ModelPrice = Schema.Struct({
  model: Schema.NonEmptyString.annotate({ description: "Name of the model" }),
  input: NonNegative.annotate({ description: "US dollars per million tokens of prompts" }),
  output: NonNegative.annotate({ description: "US dollars per million tokens of answers" })
})
export interface ModelPrice extends Schema.Schema.Type<typeof ModelPrice> {}

/** The language model that writes candidates, and its settings. */
export const ProposerModel = Schema.Struct({
  provider: ModelProvider.annotate({
    description:
      "What writes candidates: rules without a server (`offline`), or a language model; `openai-compatible` " +
      "is any server with a chat completions API, such as vLLM, SGLang, Ollama or OpenRouter"
  }),
  model: Schema.NullOr(Schema.NonEmptyString).annotate({
    description: "Name of the model at its provider; null offline"
  }),
  url: Schema.NullOr(Schema.NonEmptyString).annotate({
    description: "Base URL such as `http://127.0.0.1:8000/v1`, or null for the provider's default"
  }),
  maxOutputTokens: PositiveInt.annotate({ description: "Most tokens of one answer, reasoning included" }),
  prompt: Schema.NullOr(Schema.NonEmptyString).annotate({
    description:
      "File with your own prompt for `proposer.kind`, or null for the built-in one; see " +
      "`PromptTemplate` for the placeholders"
  })
})
export interface ProposerModel extends Schema.Schema.Type<typeof ProposerModel> {}

/** The rules that need no server. What else it says holds as soon as a provider is named. */
export const defaultConfig: ProposerModel = {
  provider: "offline",
  model: null,
  url: null,
  maxOutputTokens: 16_384,
  prompt: null
}
