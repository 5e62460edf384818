export * as AgentLaws from "./testing/AgentLaws.ts"
export * as ByteTokenizer from "./testing/ByteTokenizer.ts"
export * as ScriptedEngine from "./testing/ScriptedEngine.ts"
