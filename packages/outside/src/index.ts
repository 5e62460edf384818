export * as ChildProgram from "./ChildProgram.ts"
export * as EndpointAgent from "./EndpointAgent.ts"
export * as Exchange from "./Exchange.ts"
export * as FunctionAgent from "./FunctionAgent.ts"
export * as OutsideAgent from "./OutsideAgent.ts"
export * as Secrets from "./Secrets.ts"
export * as ProgramAgent from "./ProgramAgent.ts"

// Names for the types in declarations of programs: TypeScript names none in a namespace.
export type { Call, OutsideAgent as OutsideAgentType, OutsideFailed, Reply } from "./OutsideAgent.ts"
