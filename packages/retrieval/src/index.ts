export * as RetrieveProtocol from "./RetrieveProtocol.ts"
export * from "./Search.ts"
