import { assert, describe, it } from "@effect/vitest"
import * as fc from "fast-check"
import { type Job, messages } from "../../src/evolve/Job.ts"
import { ModelName } from "@inspo/reflection"
import { Scorers } from "@inspo/evolve/parts"
import * as Promptfoo from "../../src/evolve/Promptfoo.ts"
import * as Rows from "../../src/evolve/Rows.ts"
import * as Template from "../../src/evolve/Template.ts"

const problemOf = (run: () => unknown): string => {
  try {
    run()
  } catch (error) {
    return error instanceof Error ? error.message : String(error)
  }
  throw new Error("expected a failure")
}

describe("a model's name", () => {
  it.each([
    ["openai:gpt-4.1-mini", "openai", "gpt-4.1-mini", null],
    ["anthropic:claude-haiku-4-5", "anthropic", "claude-haiku-4-5", null],
    ["google:gemini-2.5-flash", "google", "gemini-2.5-flash", null],
    ["http://127.0.0.1:11434/v1#qwen3:8b", "openai-compatible", "qwen3:8b", "http://127.0.0.1:11434/v1"],
    ["anthropic+https://gateway.example/a#m", "anthropic", "m", "https://gateway.example/a"]
  ] as const)("is read: %s", (text, provider, model, url) => {
    assert.deepStrictEqual(ModelName.parse(text), { provider, model, url, text })
  })

  it.each(["gpt-4.1", "openai:", "mistral:m", "http://127.0.0.1/v1", "http://#m", "ftp://a#m"])(
    "is refused: %s",
    (text) => {
      assert.isNull(ModelName.parse(text))
    }
  )
})

describe("a template", () => {
  it("is filled with values, which are not read as templates", () => {
    fc.assert(
      fc.property(fc.string(), fc.string(), (a, b) => {
        assert.strictEqual(Template.fill("1 {{a}} 2 {{ b }} 3 {{a}}{{c}}", { a, b }), `1 ${a} 2 ${b} 3 ${a}{{c}}`)
      })
    )
    assert.deepStrictEqual(Template.names("{{a}} {{ b_1 }} {{a}}"), ["a", "b_1"])
    assert.deepStrictEqual(Template.placeholders("{{a}} {{ b_1 }} {{a}}"), ["{{a}}", "{{ b_1 }}"])
  })

  it("has no other syntax", () => {
    for (const text of ["{% if a %}", "{# note #}", "{{ a | upper }}", "{{ a.b }}", "{{a"]) {
      const found = Template.foreign(`{{a}} ${text}`)
      assert.isTrue(found !== null && text.startsWith(found), text)
    }
    assert.isNull(Template.foreign('{{a}} {"b": {"c": 1}}'))
  })
})

describe("rows", () => {
  const columns = { input: null, expected: "expected" }
  const exact = { kind: "built-in", scorer: { kind: "exact", isCaseSensitive: false } } as const
  const conversation = (row: Rows.Row, given: Rows.Columns = columns) =>
    Rows.jobs("a.csv", [row], given, exact).map((job) => messages("P", job).map(({ role, text }) => `${role}: ${text}`))

  it("are put by the column `input`, a column that is named, or all but the expected answer", () => {
    assert.deepStrictEqual(conversation({ input: "I", more: "M", expected: "E" }), [["system: P", "user: I"]])
    assert.deepStrictEqual(conversation({ input: "I", more: "M", expected: "E" }, { ...columns, input: "more" }), [
      ["system: P", "user: M"]
    ])
    assert.deepStrictEqual(conversation({ a: "A", b: "B", expected: "E" }), [["system: P", "user: a: A\nb: B"]])
  })

  it("are without what they say of their case", () => {
    const marked = { a: "A", expected: "E", protected: "True", session: "s" }
    assert.deepStrictEqual(conversation(marked), [["system: P", "user: a: A"]])
    const [job] = Rows.jobs("a.csv", [marked], columns, exact)
    assert.deepStrictEqual(job?.case, { input: "a: A", expected: "E", protected: true, session: "s" })
  })

  it("of an agent outside differ where any column does that it gets", () => {
    const given = { ...columns, input: "question", isWhole: true }
    const row = { question: "Q", context: "one", expected: "E", protected: "", session: "s" }
    const [one, other] = Rows.jobs("a.csv", [row, { ...row, context: "two" }], given, null)
    assert.deepStrictEqual(one?.case, { input: "Q", fields: { context: "one" }, expected: "E", session: "s" })
    assert.notDeepEqual(one?.case, other?.case)
    const [model] = Rows.jobs("a.csv", [row], { ...columns, input: "question" }, exact)
    assert.isUndefined(model?.case.fields)
  })

  it("put the input at the end of the conversation in the column `conversation`", () => {
    const earlier = JSON.stringify([
      { role: "user", content: "Hello" },
      { role: "assistant", content: "Yes?" }
    ])
    const row = { conversation: earlier, input: "I", expected: "E" }
    assert.deepStrictEqual(conversation(row), [["system: P", "user: Hello", "assistant: Yes?", "user: I"]])
    const [job] = Rows.jobs("a.csv", [row], columns, exact)
    assert.deepStrictEqual(job?.case, { input: "user: Hello\nassistant: Yes?\nuser: I", expected: "E" })
    assert.deepStrictEqual(conversation({ conversation: "", a: "A", expected: "E" }), [["system: P", "user: a: A"]])
    for (const wrong of ["Hello", "[1]", '[{"role": "system", "content": "S"}]'])
      assert.match(
        problemOf(() => Rows.jobs("a.csv", [{ ...row, conversation: wrong }], columns, exact)),
        /row 1, column "conversation" is .*expected messages such as/u
      )
  })

  it("are refused with row and column", () => {
    const jobs = (rows: ReadonlyArray<Rows.Row>, scoring: Rows.Scoring = exact, given: Rows.Columns = columns) =>
      problemOf(() => Rows.jobs("a.csv", rows, given, scoring))
    const good = { input: "I", expected: "1" }
    assert.strictEqual(
      jobs([good, { input: "I", expected: " " }]),
      'a.csv, row 2, column "expected" is " "; expected the expected answer.'
    )
    assert.match(jobs([{ input: "I" }]), /row 1: there is no column "expected"; .* Columns: input\.$/u)
    assert.match(jobs([good], exact, { ...columns, input: "text" }), /no column "text"/u)
    assert.match(jobs([{ input: "", expected: "E" }]), /row 1, column "input" is ""/u)
    for (const mark of ["yes", "1", "x"])
      assert.match(jobs([{ ...good, protected: mark }]), /column "protected" is .*; expected true or false; give/u)
    assert.match(jobs([{ input: "I", expected: "(" }], { kind: "built-in", scorer: { kind: "pattern" } }), /RE2/u)
  })

  it("of a judge are the answers with a label, and put to it as in the comparison", () => {
    const labelled = (...rows: ReadonlyArray<Rows.Row>) =>
      Rows.labelled("a.csv", rows, { input: null, expected: "label" })
    const about = JSON.stringify({ input: "I", expected: "E", session: "s" })
    const [one, other, ...more] = labelled(
      { key: "1", case: about, answer: "A", label: "0.5" },
      { key: "2", case: about, answer: "B", label: " " },
      { key: "3", case: "plain", answer: "", label: "1" }
    )
    assert.deepStrictEqual(one?.case, { input: "case: I\nexpected: E\nanswer: A", expected: "0.5", session: "s" })
    const alone = JSON.stringify({ input: "I" })
    const [own] = labelled({ key: "1", case: alone, answer: "A", label: "1" })
    assert.strictEqual(own?.case.session, alone)
    assert.deepStrictEqual(one?.checks, [{ kind: "label", label: 0.5 }])
    assert.deepStrictEqual(one === undefined ? [] : messages("R", one), [
      { role: "user", text: Scorers.judgeRequest({ rubric: "R", input: "I", expected: "E", output: "A" }) }
    ])
    assert.deepStrictEqual(other?.asked, { judged: { input: "plain", expected: null, output: "" } })
    assert.lengthOf(more, 0)
    for (const wrong of [{ label: "2" }, { label: "good" }, { answer: "A" }, {}])
      assert.match(
        problemOf(() => labelled({ case: "c", ...("label" in wrong ? { answer: "A" } : {}), ...wrong })),
        /^a\.csv, row 1: the label is .*expected a score from 0 to 1.*Columns: case/u
      )
  })

  it("need no expected answer for a judge", () => {
    const [job] = Rows.jobs("a.csv", [{ input: "I" }], columns, { kind: "judge", rubric: "R" })
    assert.deepStrictEqual(job?.case, { input: "I" })
  })
})

describe("a promptfoo config", () => {
  it("fills the variables that any compared prompt uses, and refuses one that uses none", () => {
    const read = (...prompts: ReadonlyArray<string>) => Promptfoo.read("c.yaml", config, prompts)
    const tests = [{ vars: { ticket: "T", tone: "calm" }, assert: [{ type: "equals", value: "a" }] }]
    const toned = (...prompts: ReadonlyArray<string>) => Promptfoo.read("c.yaml", { ...config, tests }, prompts)
    const [job] = toned("Sort {{ticket}}.", "Be {{tone}}: {{ticket}}").jobs
    assert.deepStrictEqual(job?.asked, { variables: { ticket: "T", tone: "calm" } })
    assert.match(
      problemOf(() => read("Sort {{ticket}}.", "{{missing}}")),
      /tests\[0\]\.vars.*\{\{missing\}\}, which a prompt uses/u
    )
    assert.match(
      problemOf(() => read("Sort {{ticket}}.", "Sort it.")),
      /^A prompt is "Sort it\."; expected a text that uses a variable/u
    )
  })

  const config = {
    description: "d",
    prompts: ["Sort {{ticket}}."],
    providers: ["anthropic:messages:claude-haiku-4-5"],
    defaultTest: { assert: [{ type: "icontains", value: "a" }] },
    tests: [
      { vars: { ticket: "T", label: "billing" }, assert: [{ type: "equals", value: "{{label}}" }] },
      { vars: { ticket: 7 }, assert: [{ type: "llm-rubric", value: "Mentions {{ticket}}." }, { type: "is-json" }] }
    ]
  }
  const change = (more: object) => problemOf(() => Promptfoo.read("c.yaml", { ...config, ...more }))
  const test = (more: object) => change({ tests: [{ vars: { ticket: "T" }, assert: [], ...more }] })

  it("gives the prompt, the model and the tests", () => {
    const { jobs, model, prompt } = Promptfoo.read("c.yaml", config)
    assert.deepStrictEqual([prompt, model], ["Sort {{ticket}}.", "anthropic:claude-haiku-4-5"])
    assert.deepStrictEqual(
      jobs.map((job: Job) => messages(prompt, job)),
      [[{ role: "user", text: "Sort T." }], [{ role: "user", text: "Sort 7." }]]
    )
    assert.deepStrictEqual(jobs[0]?.case, { input: "ticket: T", expected: "billing" })
    assert.deepStrictEqual(
      jobs.map(({ checks }) => checks),
      [
        [
          { kind: "promptfoo", type: "icontains", not: false, value: "a" },
          { kind: "promptfoo", type: "equals", not: false, value: "billing" }
        ],
        [
          { kind: "promptfoo", type: "icontains", not: false, value: "a" },
          { kind: "judge", rubric: "Mentions 7." },
          { kind: "promptfoo", type: "is-json", not: false, value: null }
        ]
      ]
    )
  })

  it.each([
    [
      "javascript",
      () => test({ assert: [{ type: "javascript", value: "1" }] }),
      /tests\[0\]\.assert\[0\]\.type is "javascript"; /u
    ],
    ["not-llm-rubric", () => test({ assert: [{ type: "not-llm-rubric", value: "1" }] }), /type is "not-llm-rubric"/u],
    [
      "a negative weight",
      () => test({ assert: [{ type: "equals", value: "1", weight: -1 }] }),
      /weight is -1; expected/u
    ],
    ["a date", () => test({ vars: { ticket: new Date(0) } }), /vars\.ticket is .*expected a text; write it in quotes/u],
    [
      "a number",
      () => test({ vars: { ticket: 2 ** 53 } }),
      /vars\.ticket is "9007199254740992"; .*write it in quotes/u
    ],
    ["no value", () => test({ assert: [{ type: "equals" }] }), /value is null; expected a text, a number/u],
    [
      "a bad expression",
      () => test({ assert: [{ type: "regex", value: "(?i)a" }] }),
      /a regular expression of JavaScript/u
    ],
    [
      "another test's variable",
      () => test({ assert: [{ type: "equals", value: "{{other}}" }] }),
      /\{\{other\}\} is none/u
    ],
    ["a filter in a value", () => test({ vars: { ticket: "{{ a | upper }}" } }), /vars\.ticket is .*Nunjucks/u],
    [
      "a name of every object",
      () => test({ vars: { ticket: "{{constructor}}" } }),
      /vars\.ticket is "\{\{constructor\}\}"/u
    ],
    [
      "a prompt with it",
      () => change({ prompts: ["{{ticket}} {{constructor}}"] }),
      /prompts is "\{\{constructor\}\}"/u
    ],
    [
      "a conversation in a value",
      () =>
        change({
          prompts: ["{{ticket}}"],
          tests: [{ vars: { ticket: "[1]" }, assert: [{ type: "equals", value: 1 }] }]
        }),
      /tests\[0\] is "\[1\]"; .*conversations/u
    ],
    [
      "two tests of one text",
      () =>
        change({
          tests: [
            { vars: { ticket: "T" }, assert: [{ type: "contains", value: "a" }] },
            { vars: { ticket: "T" }, assert: [{ type: "contains", value: "b" }] }
          ]
        }),
      /expected one test of the same variables/u
    ],
    [
      "a threshold",
      () => test({ assert: [{ type: "equals", value: "1", threshold: 1 }] }),
      /assert\[0\]\.threshold is 1; expected no such field/u
    ],
    ["a schema", () => test({ assert: [{ type: "is-json", value: { type: "object" } }] }), /assert\[0\]\.value is /u],
    ["options", () => test({ options: {} }), /tests\[0\]\.options is /u],
    ["a list of numbers", () => test({ vars: { ticket: [1, 2] } }), /tests\[0\]\.vars\.ticket is \[1,2\]/u],
    ["a file", () => test({ vars: { ticket: "file://t.txt" } }), /vars\.ticket is "file:/u],
    ["a missing value", () => test({ vars: {} }), /expected a value of \{\{ticket\}\}/u],
    ["two prompts", () => change({ prompts: ["a {{ticket}}", "b {{ticket}}"] }), /prompts is .*; expected one prompt/u],
    ["a conversation", () => change({ prompts: ['[{"role": "user", "content": "{{ticket}}"}]'] }), /conversations/u],
    [
      "a filter",
      () => change({ prompts: ["{{ticket}} {{ ticket | upper }}"] }),
      /prompts is "\{\{ ticket \| upper \}\}"/u
    ],
    ["no variable", () => change({ prompts: ["Sort."] }), /uses a variable/u],
    ["scenarios", () => change({ scenarios: [{ config: [], tests: [] }] }), /scenarios is .*; expected none/u],
    ["a file of tests", () => change({ tests: "tests.csv" }), /tests is "tests\.csv"; expected a list of tests/u],
    ["no assertion", () => change({ defaultTest: {}, tests: [{ vars: { ticket: "T" } }] }), /at least one assertion/u]
  ] as const)("is refused by name: %s", (_, problem, part) => {
    assert.match(problem(), part)
  })

  it("leaves other providers to --model", () => {
    assert.isNull(Promptfoo.read("c.yaml", { ...config, providers: ["ollama:qwen3"] }).model)
  })
})
