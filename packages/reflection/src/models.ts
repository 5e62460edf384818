/** Language models as proposers and judges, over four protocols. */
export * as Anthropic from "./Anthropic.ts"
export * as Google from "./Google.ts"
export * as Metering from "./Metering.ts"
export * as ModelProposer from "./ModelProposer.ts"
export { openAiCompatible } from "./OpenAi.ts"
export * as Provider from "./Provider.ts"
export { providers } from "./Providers.ts"
