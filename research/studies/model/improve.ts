/**
 * `evolve()` with a real language model, on the tasks of the gate: the plain instruction of a task, its sentences, and questions that no
 * other study asks. The same command continues a search that was stopped.
 *
 *     bash research/studies/model/serve
 *     npx pnpm@12 exec node research/studies/model/improve.ts --task format --seeds 1-3
 *
 * `--questions` is a file with questions and passages for the task `passages`, such as the one that `research frozen-passages` leaves.
 */
import { mkdir, readFile } from "node:fs/promises"
import { parseArgs } from "node:util"
import { evolve } from "@inspo/evolve"
import { interval } from "@inspo/evolve/SearchView"
import { Effect, Schema } from "effect"
import { answered, measures } from "../src/gate/Measures.ts"
import { tasks } from "../src/gate/Tasks.ts"
import { parseSeeds } from "../src/Seeds.ts"

const { values: flags } = parseArgs({
  options: {
    task: { type: "string", default: "format" },
    seeds: { type: "string", default: "1-3" },
    questions: { type: "string" },
    cases: { type: "string", default: "100" },
    calls: { type: "string", default: "500" },
    url: { type: "string", default: "http://127.0.0.1:8080" },
    out: { type: "string", default: "runs/improve" }
  }
})
const task = tasks.find(({ name }) => name === flags.task)
if (task === undefined) throw new Error(`--task is ${flags.task}, expected ${tasks.map(({ name }) => name).join(", ")}`)

const Case = Schema.Struct({ question: Schema.String, golden_answers: Schema.Array(Schema.String) })
type Case = typeof Case.Type
const decodeCase = Schema.decodeUnknownSync(Schema.fromJsonString(Case))

const Answer = Schema.Struct({
  choices: Schema.NonEmptyArray(Schema.Struct({ message: Schema.Struct({ content: Schema.String }) }))
})
const decodeAnswer = Schema.decodeUnknownSync(Answer)

const casesOf = async (seed: number): Promise<ReadonlyArray<Case>> => {
  const count = Number(flags.cases)
  if (flags.questions === undefined)
    // The gate asks the questions of seed 1, the frozen and the trained studies those of seed 2.
    return task
      .questions({ questions: [], passages: [] }, count, 1000 + seed)
      .map(({ goldenAnswers, question }) => ({ question, golden_answers: goldenAnswers }))
  return (await readFile(flags.questions, "utf8"))
    .trim()
    .split("\n")
    .slice(0, count)
    .map((line) => decodeCase(line))
}

/** One answer of the model, as in the other studies: the instruction and the question are one message. */
const ask = async (prompt: string, { question }: Case, signal: AbortSignal): Promise<string> => {
  const response = await fetch(`${flags.url}/v1/chat/completions`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({
      messages: [{ role: "user", content: `${prompt}\n\n${question}` }],
      max_tokens: task.tokens,
      temperature: 0.3
    }),
    signal
  })
  if (!response.ok) throw new Error(`${flags.url} answered ${response.status}: ${await response.text()}`)
  return decodeAnswer(await response.json()).choices[0].message.content
}

const print = (line: string): boolean => process.stdout.write(`${line}\n`)

await mkdir(flags.out, { recursive: true })
print("| task, seed | verdict | plain, in the search | gain on held-out cases, 90 % interval | calls | prompt |")
print("| --- | --- | ---: | ---: | ---: | --- |")
for (const seed of Effect.runSync(Effect.fromResult(parseSeeds("--seeds", flags.seeds)))) {
  const result = await evolve({
    prompt: task.instructions[0],
    cases: await casesOf(seed),
    agent: (prompt, one, { signal }) => ask(prompt, one, signal),
    score: (output, { golden_answers }) => measures[task.measure](answered(output, null), golden_answers),
    proposer: task.sentences,
    budget: { calls: Number(flags.calls) },
    file: `${flags.out}/${task.name}-${seed}.jsonl`,
    randomSeed: seed
  })
  const { calls, gain, prompt, tried, verdict } = result
  const score = tried[0]?.score ?? null
  const plain = score === null ? "–" : (100 * score).toFixed(1)
  print(
    `| ${task.name}, ${seed} | ${verdict} | ${plain} | ${gain === null ? "–" : interval(gain)} | ${calls} | ${prompt} |`
  )
}
