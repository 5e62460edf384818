import type { Tokenizer } from "@inspo/engine"
import * as TinkerEngine from "@inspo/engine-tinker"
import { Layer } from "effect"
import * as PooledHttpClient from "../../../apps/cli/src/engine/PooledHttpClient.ts"
import { shape } from "./Shape.ts"

/** The engine of `server.ts` at a URL. */
export const layer = (url: string, tokenizer: Tokenizer) =>
  TinkerEngine.layer({ url, tokenizer, concurrency: shape.concurrency, answerWithin: null }).pipe(
    Layer.provide(PooledHttpClient.layer("60 seconds"))
  )
