/** Views of runs. */
import { ask } from "./Client.ts"
import { viewing } from "./Viewing.ts"

export const makeView = viewing(ask)
