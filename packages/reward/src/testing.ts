export * as RewardLaws from "./testing/RewardLaws.ts"
