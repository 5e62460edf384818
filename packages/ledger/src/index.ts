export * as Bookkeeping from "./Bookkeeping.ts"
export * as DollarBudget from "./DollarBudget.ts"
export * as Ledger from "./Ledger.ts"
export * as ProposerCalls from "./ProposerCalls.ts"
