/** Language models as proposers and judges, over four protocols. */
import { anthropic } from "./Anthropic.ts"
import { google } from "./Google.ts"
import type { ModelProvider } from "./ModelName.ts"
import { openAi, openAiCompatible } from "./OpenAi.ts"
import type { Provider } from "./Provider.ts"

export * as Anthropic from "./Anthropic.ts"
export * as Google from "./Google.ts"
export * as Metering from "./Metering.ts"
export * as ModelProposer from "./ModelProposer.ts"
export { openAiCompatible } from "./OpenAi.ts"
export * as Provider from "./Provider.ts"

/** The protocols of language models, by the name a config gives them. */
export const providers: Readonly<Record<ModelProvider, Provider>> = {
  "openai-compatible": openAiCompatible,
  openai: openAi,
  anthropic,
  google
}
