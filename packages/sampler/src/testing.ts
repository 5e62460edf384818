export * as SamplerLaws from "./testing/SamplerLaws.ts"
