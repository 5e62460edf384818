import { assert, describe, it } from "@effect/vitest"
import { Client } from "@inspo/http/server"
import { Option, Redacted } from "effect"
import { Headers } from "effect/http"

const of = (options: Client.Options, headers: Record<string, string>, address = "10.0.0.1") =>
  Client.of(options)({ headers: Headers.fromInput(headers), remoteAddress: Option.some(address) })

const key = Redacted.make("secret")

describe("the client of a request", () => {
  it.each([
    { authorization: "Bearer secret" },
    { authorization: `Basic ${btoa("me:secret")}` },
    { "inspo-key": "secret" },
    { "x-api-key": "secret" }
  ])("with a key of the server, in %o, is not one without", (headers) => {
    const options = { keys: [Redacted.make("other"), key] }
    assert.notStrictEqual(of(options, headers), of(options, {}))
    assert.strictEqual(of(options, { authorization: "Bearer guess" }), of(options, {}))
    assert.strictEqual(of(options, { authorization: "Bearer guess" }), of(options, { "x-api-key": "guess" }))
  })

  it("is who a trusted proxy says, and nobody else is believed", () => {
    const options = { proxies: ["10.0.0.1", "10.0.0.2"] }
    const from = (forwarded: string, address?: string) => of(options, { "x-forwarded-for": forwarded }, address)
    assert.strictEqual(from("192.0.2.7"), of({}, {}, "192.0.2.7"))
    assert.strictEqual(from("192.0.2.7", "::ffff:10.0.0.1"), of({}, {}, "192.0.2.7"))
    // What a client adds in front, or another proxy of ours behind, changes nothing.
    assert.strictEqual(from("198.51.100.1, 192.0.2.7, 10.0.0.2"), of({}, {}, "192.0.2.7"))
    assert.strictEqual(from("198.51.100.1", "192.0.2.7"), of({}, {}, "192.0.2.7"))
    assert.strictEqual(of({}, { "x-forwarded-for": "198.51.100.1" }), of({}, {}))
    assert.strictEqual(from(""), of({}, {}))
  })
})
