export * as JournalLaws from "./testing/JournalLaws.ts"
