import { assert, describe, it } from "@effect/vitest"
import * as fc from "fast-check"
import * as Keys from "../../src/evolve/Keys.ts"
import { ModelName } from "@inspo/reflection"

const named = (text: string): ModelName.ModelName => {
  const name = ModelName.parse(text)
  if (name === null) throw new Error(`${text} is no name of a model`)
  return name
}

const scheme = fc.constantFrom("http", "https")
const host = fc.constantFrom("a.example", "a.example:8000", "b.example", "127.0.0.1:1", "127.0.0.1:2")
const Origin = fc.tuple(scheme, host).map(([one, other]) => `${one}://${other}`)
const path = fc.constantFrom("", "/", "/v1", "/a/v1?b=c")
const provider = fc.constantFrom("", "openai+", "anthropic+", "google+")

describe("a key", () => {
  it("is for the servers with its scheme, host and port, and for no others", () => {
    fc.assert(
      fc.property(Origin, Origin, path, provider, fc.boolean(), (first, second, end, kind, isNamed) => {
        const model = named(`${kind}${first}${end}#m`)
        const proposer = named(`${second}/v1#p`)
        const keyOf = Keys.read([isNamed ? `${second}${end}=KEY` : "KEY"], model, proposer)
        const at = isNamed ? second : first
        for (const one of [model, proposer])
          assert.strictEqual(
            keyOf(one),
            one.url?.startsWith(at) === true && Keys.originOf(one.url) === at ? "KEY" : null
          )
        assert.isNull(keyOf(named("openai:m")))
      })
    )
  })

  it("for no server is refused", () => {
    const [hosted, local] = [named("openai:m"), named("http://a.example/v1#m")]
    assert.throws(() => Keys.read(["KEY"], hosted, local), "--api-key-env is KEY, and --model is openai:m")
    assert.throws(() => Keys.read(["http://b.example=KEY"], hosted, local), "expected http://a.example=NAME")
    assert.throws(() => Keys.read(["a.example=KEY"], hosted, local), "expected http://a.example=NAME")
    assert.throws(() => Keys.read(["http://b.example=KEY"], hosted, hosted), "so it is not needed")
  })
})
