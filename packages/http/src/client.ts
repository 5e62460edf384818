export * as Address from "./client/Address.ts"
export * as PatientClient from "./client/PatientClient.ts"
export * as ReportedFailure from "./client/ReportedFailure.ts"
export * as Waiting from "./client/Waiting.ts"
