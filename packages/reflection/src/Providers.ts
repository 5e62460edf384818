import { anthropic } from "./Anthropic.ts"
import { google } from "./Google.ts"
import { openAi, openAiCompatible } from "./OpenAi.ts"
import type { ModelProvider } from "./ModelName.ts"
import type { Provider } from "./Provider.ts"

/** The protocols of language models, by the name a config gives them. */
export const providers: Readonly<Record<ModelProvider, Provider>> = {
  "openai-compatible": openAiCompatible,
  openai: openAi,
  anthropic,
  google
}
