export * as Catalog from "./Catalog.ts"
export * as Profile from "./Profile.ts"
export * from "./TinkerEngine.ts"
export * as Wire from "./Wire.ts"
