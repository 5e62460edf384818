export * as Bookkeeping from "./Bookkeeping.ts"
export * as DollarBudget from "./DollarBudget.ts"
export * as Ledger from "./Ledger.ts"
export * as ProposerCalls from "./ProposerCalls.ts"

// Names for the types in declarations of programs: TypeScript names none in a namespace.
export type { Bookkeeping as BookkeepingType, BudgetReached } from "./Bookkeeping.ts"
export type { Amounts } from "./Ledger.ts"
