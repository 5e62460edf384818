export * as Attach from "./Attach.ts"
export * from "./Catalogue.ts"
export * as Point from "./Point.ts"
export * as Tracker from "./Tracker.ts"
export * as Credentials from "./Credentials.ts"
export * as Gauges from "./Gauges.ts"

// Names for the types in declarations of programs: TypeScript names none in a namespace.
export type { Interface, Tracker as TrackerType, TrackerError } from "./Tracker.ts"
