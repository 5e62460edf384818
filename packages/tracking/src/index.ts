export * as Attach from "./Attach.ts"
export * from "./Catalogue.ts"
export * as Point from "./Point.ts"
export * as Tracker from "./Tracker.ts"
