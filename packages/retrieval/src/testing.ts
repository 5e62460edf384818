export * as Corpora from "./testing/Corpora.ts"
export * as SearchLaws from "./testing/SearchLaws.ts"
