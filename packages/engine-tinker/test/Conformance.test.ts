import { describe, it } from "@effect/vitest"
import { Engine } from "@inspo/engine"
import { EngineLaws, TabularEngine } from "@inspo/engine/testing"
import * as TinkerEngine from "@inspo/engine-tinker"
import { Effect, Layer } from "effect"
import * as InMemory from "./support/InMemory.ts"

/** An engine behind the server behind the client. */
const overHttp = (encoding: "json" | "protobuf") =>
  Layer.unwrap(
    Effect.map(Engine, ({ tokenizer }) =>
      TinkerEngine.layer({ url: "http://inspo.test", tokenizer, encoding }).pipe(Layer.provide(InMemory.layer()))
    )
  )

describe("TinkerEngine", () => {
  for (const encoding of ["json", "protobuf"] as const) {
    it.layer(overHttp(encoding).pipe(Layer.provide(Layer.effect(Engine, TabularEngine.make))), {
      excludeTestServices: true
    })(`conforms over HTTP, ${encoding}`, (it) => {
      for (const { name, check } of EngineLaws.laws()) it.effect(name, () => check)
    })
  }
})
