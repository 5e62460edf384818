import { assert, describe, it } from "@effect/vitest"
import { Credentials } from "@inspo/tracking"

describe("withoutCredentials", () => {
  it("cuts names, passwords and keys out of addresses, wherever they stand", () => {
    for (const [text, expected] of [
      ["http://me:pw@host:1/a?b=c", "http://host:1/a?b=c"],
      ["no route to https://me@host, nor http://a:b@c.", "no route to https://host, nor http://c."],
      ["http://host/?key=pw&n=1#x", "http://host/?key=REDACTED&n=1#x"],
      ["http://host/?API_KEY=pw&accessToken=pw", "http://host/?API_KEY=REDACTED&accessToken=REDACTED"],
      ["api_key=pw&n=1", "api_key=REDACTED&n=1"],
      ["postgres://me:p%40w@host/db", "postgres://host/db"]
    ] as const)
      assert.strictEqual(Credentials.withoutCredentials(text), expected)
  })

  it("leaves other texts alone", () => {
    for (const text of ["", "mail me@host", "http://host/@me", "Answer the question. a=b", "monkey = 3"])
      assert.strictEqual(Credentials.withoutCredentials(text), text)
  })
})
