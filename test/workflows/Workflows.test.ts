import { globSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { Schema } from "effect"
import { assert, describe, it } from "vitest"
import { parse } from "yaml"
import { root } from "../packages/support/Workspace.ts"

const read = (file: string): string => readFileSync(join(root, file), "utf8")

/** A file of GitHub, refused if it has a key that its format does not have. */
const decode = <S extends Schema.ConstraintDecoder<unknown>>(schema: S, file: string): S["Type"] =>
  Schema.decodeUnknownSync(schema, { onExcessProperty: "error" })(parse(read(file)))

const Strings = Schema.Array(Schema.String)
const Permissions = Schema.Record(Schema.String, Schema.Literals(["read", "write"]))
const Step = Schema.Struct({
  uses: Schema.optionalKey(Schema.String),
  with: Schema.optionalKey(Schema.Record(Schema.String, Schema.Unknown)),
  run: Schema.optionalKey(Schema.String),
  env: Schema.optionalKey(Schema.Record(Schema.String, Schema.String))
})
const Job = Schema.Struct({
  name: Schema.optionalKey(Schema.String),
  strategy: Schema.optionalKey(Schema.Unknown),
  "runs-on": Schema.String,
  "timeout-minutes": Schema.Int,
  environment: Schema.optionalKey(Schema.String),
  permissions: Permissions,
  defaults: Schema.optionalKey(Schema.Unknown),
  steps: Schema.Array(Step)
})
const Workflow = Schema.Struct({
  name: Schema.String,
  on: Schema.Unknown,
  permissions: Schema.Record(Schema.String, Schema.Never),
  concurrency: Schema.Struct({ group: Schema.String, "cancel-in-progress": Schema.Boolean }),
  jobs: Schema.Record(Schema.String, Job)
})

const workflows = globSync(".github/workflows/*.yml", { cwd: root })

describe.each([...workflows, ...globSync("examples/*/.github/workflows/*.yml", { cwd: root })])("%s", (file) => {
  it("gives each job the permissions that it names, and no others", () => {
    assert.isNotEmpty(Object.keys(decode(Workflow, file).jobs))
  })

  it("names each action by the hash of a commit, with its version beside it", () => {
    const uses = [...read(file).matchAll(/uses: ([^.].*)$/gmu)].map(([, action = ""]) => action)
    assert.isNotEmpty(uses)
    for (const action of uses) assert.match(action, /^[\w-]+\/[\w-]+@[\da-f]{40} # v\d+\.\d+\.\d+$/u)
  })
})

it("runs pnpm by the version in package.json wherever a job may publish", () => {
  const { packageManager } = Schema.decodeUnknownSync(
    Schema.fromJsonString(Schema.Struct({ packageManager: Schema.String }))
  )(read("package.json"))
  const publishing = workflows.flatMap((file) =>
    Object.values(decode(Workflow, file).jobs).filter(({ permissions }) => permissions["id-token"] === "write")
  )
  assert.isNotEmpty(publishing)
  for (const { steps } of publishing)
    for (const { run = "" } of steps)
      for (const [, program] of run.matchAll(/npx (?:--\S+ )*(\S+)/gu)) assert.strictEqual(program, packageManager)
})

describe("the stages of .ci/run", () => {
  it("are all run by the workflows, by their names", () => {
    const stages = [...read(".ci/run").matchAll(/^if stage "(.*)"; then$/gmu)].map(([, name = ""]) => name)
    const called = workflows.flatMap((file) =>
      read(file)
        .split("\n")
        .filter((line) => /^ +(?:- run: bash \.ci\/run [^$]|")/u.test(line))
        .flatMap((line) => [...line.replace(/^.*\.ci\/run/u, "").matchAll(/"([^"]+)"|(?<= )([a-z]+)/gu)])
        .map(([, quoted, word]) => quoted ?? word ?? "")
    )
    // Stages that need Debian packages install them.
    assert.sameMembers(
      called,
      stages.filter((name) => name !== "Debian packages")
    )
  })
})

const Element = Schema.Union([
  Schema.Struct({ type: Schema.Literal("markdown"), attributes: Schema.Struct({ value: Schema.String }) }),
  Schema.Struct({
    type: Schema.Literals(["textarea", "input"]),
    id: Schema.String.check(Schema.isPattern(/^[\w-]+$/u)),
    attributes: Schema.Struct({
      label: Schema.String,
      description: Schema.optionalKey(Schema.String),
      render: Schema.optionalKey(Schema.Literal("Shell"))
    }),
    validations: Schema.optionalKey(Schema.Struct({ required: Schema.Boolean }))
  })
])
const Form = Schema.Struct({
  name: Schema.String,
  description: Schema.String,
  labels: Schema.optionalKey(Strings),
  body: Schema.Array(Element)
})
const Dependabot = Schema.Struct({
  version: Schema.Literal(2),
  updates: Schema.Array(
    Schema.Struct({
      "package-ecosystem": Schema.Literals(["npm", "pip", "github-actions"]),
      directory: Schema.String.check(Schema.isPattern(/^\//u)),
      schedule: Schema.Struct({ interval: Schema.Literal("weekly") }),
      groups: Schema.Record(Schema.String, Schema.Struct({ patterns: Strings }))
    })
  )
})

describe("the files for issues and updates", () => {
  it.each(["bug", "question-or-idea"])("%s.yml is a form of GitHub", (name) => {
    const { body } = decode(Form, `.github/ISSUE_TEMPLATE/${name}.yml`)
    const ids = body.flatMap((element) => ("id" in element ? [element.id] : []))
    assert.isNotEmpty(ids)
    assert.lengthOf(new Set(ids), ids.length)
  })

  it("allow no issue without a form", () => {
    const { blank_issues_enabled } = decode(
      Schema.Struct({ blank_issues_enabled: Schema.Boolean }),
      ".github/ISSUE_TEMPLATE/config.yml"
    )
    assert.isFalse(blank_issues_enabled)
  })

  it("update npm, pip and the actions, weekly and in groups", () => {
    const { updates } = decode(Dependabot, ".github/dependabot.yml")
    assert.sameMembers(
      updates.map((update) => update["package-ecosystem"]),
      ["npm", "pip", "github-actions"]
    )
  })
})
