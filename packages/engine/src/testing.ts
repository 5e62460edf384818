export * as EngineLaws from "./testing/EngineLaws.ts"
export * as TabularEngine from "./testing/TabularEngine.ts"
