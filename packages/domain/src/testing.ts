export * as Groups from "./testing/Groups.ts"
export * as Law from "./testing/Law.ts"
