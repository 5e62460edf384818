export type * from "./ChatCall.ts"
export * from "./Gateway.ts"
export * from "./routes.ts"
export * as Branch from "./Branch.ts"
export * as GatewayRollout from "./GatewayRollout.ts"
export * as Workers from "./Workers.ts"

// Names for the types in declarations of programs: TypeScript names none in a namespace.
export type { Workers as WorkersType } from "./Workers.ts"
