/** A population that is only read: its log and state from the journal, and what the API would say of it. */
export { events, state } from "./internal/Loading.ts"
export { open as notes, spentUsd } from "./internal/Notes.ts"
export type { StoredEvent } from "./internal/Stored.ts"
export { incumbent, isoTime, population } from "./internal/View.ts"
