import { Address } from "@inspo/http/client"
import { assert, describe, it } from "@effect/vitest"
import { Option, Redacted, Schema } from "effect"

describe("Address", () => {
  it.prop(
    "sends credentials as a header, and shows none of them",
    {
      user: Schema.String,
      password: Schema.String.check(Schema.isMinLength(4)),
      path: Schema.Literals(["", "/", "/v1", "/v1/"])
    },
    ({ password, path, user }) => {
      const name = `u${user.toWellFormed()}`
      const secret = `:${password.toWellFormed()}@`
      const url = `https://${encodeURIComponent(name)}:${encodeURIComponent(secret)}@server:8000${path}?a=1`
      const { request, shown } = Option.getOrThrow(Address.parse(url))
      assert.strictEqual(shown, `https://server:8000${path.replace(/\/$/u, "")}`)
      assert.notInclude(request.url, "@")
      const [scheme, encoded = ""] = (request.headers["authorization"] ?? "").split(" ")
      assert.strictEqual(scheme, "Basic")
      assert.strictEqual(Buffer.from(encoded, "base64").toString("utf8"), `${name}:${secret}`)
    }
  )

  it("keeps a percent sign that escapes nothing", () => {
    const { request } = Option.getOrThrow(Address.parse("http://me:100%@server/"))
    assert.strictEqual(request.headers["authorization"], `Basic ${btoa("me:100%")}`)
  })

  it("sends a key rather than the name in the address", () => {
    const { request } = Option.getOrThrow(Address.parse("http://me:you@server/", Redacted.make("key")))
    assert.strictEqual(request.headers["authorization"], "Bearer key")
  })

  it("accepts HTTP addresses only", () => {
    for (const url of ["", "server:8000", "ftp://server", "http://", "file:///etc/passwd"])
      assert.isTrue(Option.isNone(Address.parse(url)), url)
  })
})
