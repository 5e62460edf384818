export type * from "./ChatCall.ts"
export * from "./Gateway.ts"
export * from "./routes.ts"
export * as GatewayRollout from "./GatewayRollout.ts"
