export * from "./Apply.ts"
export * as Conclude from "./Conclude.ts"
export * from "./Decide.ts"
export * from "./Event.ts"
export * as Notebook from "./Notebook.ts"
export * as Rules from "./Rules.ts"
export * as Schedule from "./Schedule.ts"
export { SearchEvery, Settings } from "./Schedule.ts"
export * from "./State.ts"
export * as Strategies from "./Strategies.ts"

// Names for the types in declarations of programs: TypeScript names none in a namespace.
export type { Schedule as ScheduleType } from "./Schedule.ts"
export type { Strategies as StrategiesType } from "./Strategies.ts"
