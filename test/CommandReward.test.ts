import * as NodeServices from "@effect/platform-node/NodeServices"
import { assert, describe, it } from "@effect/vitest"
import { type ScoredEpisode, Reward } from "@inspo/reward"
import * as CommandReward from "@inspo/reward/CommandReward"
import { RewardLaws } from "@inspo/reward/testing"
import { type Duration, Effect, Layer } from "effect"

const attempt = (answer: string): ScoredEpisode.ScoredEpisode => ({
  question: { question: "Where?", goldenAnswers: ["Ostrel Bay", "ünïcode"] },
  prompt: "Answer.",
  response: `<answer>${answer}</answer>`,
  turns: [`<answer>${answer}</answer>`]
})

/** A program that reads all lines as `rows` and then does what `script` says. */
const node = (script: string, timeout: Duration.Input = "20 seconds") => {
  const read = `const rows = require("fs").readFileSync(0, "utf8").trim().split("\\n").map((line) => JSON.parse(line));`
  return program([process.execPath, "-e", read + script], timeout)
}

const program = (command: readonly [string, ...ReadonlyArray<string>], timeout: Duration.Input = "20 seconds") =>
  Layer.provide(CommandReward.layer({ command, timeout, scope: "response" }), NodeServices.layer)

const scoreAll = (answers: ReadonlyArray<string>) =>
  Effect.flatMap(Reward, ({ score }) =>
    Effect.forEach(answers, (answer) => Effect.result(score(attempt(answer))), { concurrency: "unbounded" })
  )

const outcomes = Effect.fnUntraced(function* (answers: ReadonlyArray<string>, layer: Layer.Layer<Reward>) {
  const results = yield* Effect.provide(scoreAll(answers), layer)
  return results.map((result) => (result._tag === "Success" ? result.success.reward : result.failure.message))
})

describe("a command reward", () => {
  const exact = node(`for (const row of rows) console.log(Number(row.golden_answers.includes(row.answer)))`)
  const score: Reward.Interface["score"] = (attempt) =>
    Reward.use((reward) => reward.score(attempt)).pipe(Effect.provide(exact))
  for (const { check, name } of RewardLaws.laws({ score }, { runs: 3 })) it.live(name, () => check)

  it.live("scores what is asked at once in one process, in order", () =>
    Effect.gen(function* () {
      const answers = Array.from({ length: 300 }, (_, index) => `answer ${index}`)
      const found = yield* outcomes(
        answers,
        node(`for (const row of rows) console.log(row.answer === "answer " + row.id ? row.id / rows.length : 2)`)
      )
      assert.deepStrictEqual(
        found,
        answers.map((_, index) => index / 300)
      )
    })
  )

  it.live("gives each attempt one line, also for readers that end lines at U+2028", () =>
    Effect.gen(function* () {
      const script = `const lines = require("readline").createInterface({ input: process.stdin });
        lines.on("line", (line) => console.log(JSON.parse(line).answer.length / 10))`
      const found = yield* outcomes(["a\u2028b", "a\u2029\u0085b"], program([process.execPath, "-e", script]))
      assert.deepStrictEqual(found, [0.3, 0.4])
    })
  )

  it.live("ends a program that writes without end, whatever it writes, and keeps little of it", () =>
    Effect.gen(function* () {
      const flood = (stream: string, line: string) =>
        `const line = ${JSON.stringify(line)}.repeat(1000); const more = () => { while (process.${stream}.write(line)); }; ` +
        `process.${stream}.on("drain", more); more();`
      for (const line of ["0".repeat(1000), "1\n"]) {
        const [found] = yield* outcomes(["a"], node(flood("stdout", line)))
        assert.match(String(found), /wrote more than 65536 bytes for 1 attempts, expected one number/u)
        assert.isBelow(String(found).length, 4000)
      }
      const [noisy] = yield* outcomes(
        ["a"],
        node(`for (let i = 0; i < 300; i++) require("fs").writeSync(2, "x".repeat(10000)); process.exit(3)`)
      )
      assert.isBelow(String(noisy).length, 2000)
      const [loud] = yield* outcomes(
        ["a"],
        node(`for (let i = 0; i < 300; i++) require("fs").writeSync(2, "log\\n".repeat(1000)); console.log(1)`)
      )
      assert.strictEqual(loud, 1)
    })
  )

  it.live("gives the program the whole attempt", () =>
    Effect.gen(function* () {
      const expected = {
        id: 0,
        question: "Where?",
        golden_answers: ["Ostrel Bay", "ünïcode"],
        prompt: "Answer.",
        response: "<answer>a</answer>",
        answer: "a"
      }
      const script = `require("assert").deepStrictEqual(rows, [${JSON.stringify(expected)}]); console.log(1)`
      assert.deepStrictEqual(yield* outcomes(["a"], node(script)), [1])
    })
  )

  it.live("names the line that is no score and keeps the others", () =>
    Effect.gen(function* () {
      const found = yield* outcomes(["a", "b", "c"], node(`console.log("0.5\\n1.5\\nhigh")`))
      assert.strictEqual(found[0], 0.5)
      assert.match(String(found[1]), /wrote "1.5" on line 2, expected a number in \[0, 1\]$/u)
      assert.match(String(found[2]), /wrote "high" on line 3, expected a number in \[0, 1\]$/u)
    })
  )

  it.live.each([
    { does: "writes too little", layer: node(`console.log(1)`), tells: /wrote 1 lines for 2 attempts/u },
    {
      does: "fails",
      layer: node(`console.log("1\\n1"); console.error("no\\nsuch key"); process.exit(3)`),
      tells: /exit code 3, expected 0: such key$/u
    },
    {
      does: "throws",
      layer: node(`null.score`),
      tells: /exit code 1, expected 0: TypeError: Cannot read properties of null \(reading 'score'\)$/u
    },
    {
      does: "hangs",
      layer: node(`setInterval(() => {}, 1000)`, "300 millis"),
      tells: /not done with 2 attempts after 300ms; raise the timeout/u
    },
    { does: "does not exist", layer: program(["no-such-program"]), tells: /no-such-program cannot be run: /u },
    {
      does: "does not read",
      layer: program([process.execPath, "-e", "process.exit(4)"]),
      tells: /exit code 4|cannot be run/u
    }
  ])("fails the batch when the program $does", ({ layer, tells }) =>
    Effect.gen(function* () {
      const found = yield* outcomes(["a", "b"], layer)
      assert.strictEqual(found.length, 2)
      for (const problem of found) assert.match(String(problem), tells)
    })
  )
})
