import { Engine } from "@inspo/engine"
import { Console, Effect } from "effect"
import { layer } from "./fixtures.ts"

/** Uses an engine and lets go of it; nothing may keep the process alive after that. */
const program = Effect.gen(function* () {
  const engine = yield* Engine
  const request = { prompt: [2, 40, 3], n: 4, stop: [], maxTokens: 8, temperature: 1, topP: 1, seed: "once" }
  const [result] = yield* engine.sample([request])
  yield* Console.log(`sampled ${result?.sequences.flatMap(({ tokens }) => tokens).length} tokens`)
})

await Effect.runPromise(Effect.provide(program, layer()))
