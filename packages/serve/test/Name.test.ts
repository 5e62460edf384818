import { assert, describe, it } from "@effect/vitest"
import { Api } from "@inspo/serve"
import { OpenApi } from "effect/http-api"

describe("names on the wire", () => {
  it("are described in the OpenAPI document in all requests and answers", () => {
    const { schemas } = OpenApi.fromApi(Api).components
    for (const [schema, names] of [
      ["LeaseRequest", ["key", "stratum", "sticky"]],
      ["Lease", ["lease", "key", "replaces"]],
      ["Leases", ["cohort", "incumbent"]],
      ["Population", ["name"]]
    ] as const)
      for (const name of names) {
        const field = schemas[schema]?.["properties"]
        const described = typeof field === "object" && field !== null && Reflect.get(field, name)
        assert.isString(Reflect.get(Object(described), "description"), `${schema}.${name}`)
      }
  })
})
