export * as ProposerLaws from "./testing/ProposerLaws.ts"
export * as ScriptedModel from "./testing/ScriptedModel.ts"
export * as ScriptedProposer from "./testing/ScriptedProposer.ts"
