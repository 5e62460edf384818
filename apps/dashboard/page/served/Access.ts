/** Whether the server can be heard and lets this page in. The key lives here alone: in memory, gone with the page. */
import { useSyncExternalStore } from "react"

/** `locked`: a key is asked for, and `refused` says that the one given was not enough. `version` grows with each change. */
export interface Access {
  readonly connected: boolean
  readonly locked: boolean
  readonly refused: string | null
  readonly version: number
}

export const useAccess = (): Access => useSyncExternalStore(subscribe, () => access)

/** The key to send; null where none was typed. */
export const key = (): string | null => held

/** Sends another key from now on; null forgets it. */
export const giveKey = (next: string | null): void => {
  held = next
  publish({ locked: false, refused: null })
}

export const lock = (): void =>
  publish({ connected: true, locked: true, refused: held === null ? null : "The server does not take this key here." })

export const heard = (): void => {
  if (!access.connected) publish({ connected: true })
}

export const unheard = (): void => {
  if (access.connected) publish({ connected: false })
}

let held: string | null = null
let access: Access = { connected: true, locked: false, refused: null, version: 0 }
const listeners = new Set<() => void>()

const publish = (changes: Partial<Omit<Access, "version">>) => {
  access = { ...access, ...changes, version: access.version + 1 }
  for (const listener of listeners) listener()
}

const subscribe = (listener: () => void) => {
  listeners.add(listener)
  return () => listeners.delete(listener)
}
