import { Effect } from "effect"
import { build } from "../src/Assets.ts"

/** Builds the page before the package is packed, so that it brings the page along. */
await Effect.runPromise(build)
