/** The connection to the server and the API key. The key exists in the memory of this page only. */
import { makeStore } from "../Store.ts"

/** `locked`: the page asks for a key; `refused`: why the server did not accept the last one. `version` grows with each change. */
export interface Access {
  readonly connected: boolean
  readonly locked: boolean
  readonly refused: string | null
  readonly version: number
}

const store = makeStore<Access>({ connected: true, locked: false, refused: null, version: 0 })

export const useAccess = store.use

let current: string | null = null

/** The key to send; null without one. */
export const key = (): string | null => current

/** Sends another key from now on; null removes it. */
export const setKey = (next: string | null): void => {
  current = next
  update({ locked: false, refused: null })
}

export const lock = (): void =>
  update({ connected: true, locked: true, refused: current === null ? null : "The server does not accept this key." })

export const setConnected = (connected: boolean): void => {
  if (store.get().connected !== connected) update({ connected })
}

const update = (changes: Partial<Omit<Access, "version">>) =>
  store.set({ ...store.get(), ...changes, version: store.get().version + 1 })
