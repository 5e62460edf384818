import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import * as UpstreamPath from "../src/http/internal/UpstreamPath.ts"

const base = "https://upstream.example/base/v1"
/** What paths are made of, those that lead elsewhere among them. */
const parts = [
  "/",
  "//",
  "..",
  ".",
  "a",
  "%2e",
  "%2E",
  "%2f",
  "%5c",
  "\\",
  "%25",
  "%252e",
  ";",
  "populations",
  "%c3",
  "~"
]

describe("the path of what is passed on", () => {
  it.prop(
    "leads below the upstream's base, however it is read",
    { choices: Schema.Array(Schema.Int) },
    ({ choices }) => {
      const sent = `/v1/${choices.map((choice) => parts[Math.abs(choice) % parts.length]).join("")}`
      const path = UpstreamPath.of(sent)
      if (typeof path !== "string") return
      assert.strictEqual(`/v1${path}`, sent)
      for (const read of [path, decodeURIComponent(path), decodeURIComponent(path).replaceAll(/;[^/]*/gu, "")]) {
        const { origin, pathname } = new URL(`${base}${read}`)
        assert.isTrue(`${origin}${pathname}`.startsWith(`${base}/`), read)
      }
    }
  )

  it("is none of this server's own, and no other version", () => {
    for (const path of [
      "/v1/populations",
      "/v1/populations/a/leases?b",
      "/V1//Populations/a",
      "/v1/%70opulations",
      "/v1/traces",
      "/v1/logs/?b",
      "/v1/metrics",
      "/v1",
      "/v2/models",
      "/healthz"
    ])
      assert.isNull(UpstreamPath.of(path), path)
    for (const path of ["/v1/models", "/v1/models/a%2Fb", "/v1/embeddings?x=..", "/V1/population", "/v1/traces/ingest"])
      assert.isString(UpstreamPath.of(path), path)
  })

  it("has prompts if the upstream would resolve it so", () => {
    for (const path of ["/chat/completions", "/Chat//completions/", "/chat%2Fcompletions", "/responses"])
      assert.isTrue(UpstreamPath.hasPrompts(path), path)
    for (const path of ["/completions", "/responses/r1", "/embeddings"])
      assert.isFalse(UpstreamPath.hasPrompts(path), path)
  })
})
