import { Effect } from "effect"
import { build } from "../src/Assets.ts"

/** Builds the page before the package is packed, so that the package includes it. */
await Effect.runPromise(build)
