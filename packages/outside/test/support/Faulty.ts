/**
 * A program whose calls say what it does with each: `{"do": "answer"}`, `crash`, `hang`, `twice`, `wrong-id`, `no-json`, `no-id`, `huge`,
 * `bad-score`, `error`, `noise` or `slow`. Its first argument is a file that counts what it was asked; it starts a child that outlives it
 * with the second argument.
 */
import { spawn } from "node:child_process"
import { appendFileSync } from "node:fs"
import { createInterface } from "node:readline"
import { setTimeout } from "node:timers/promises"

const [, , file = "", child] = process.argv
const say = (value: unknown): void => console.log(JSON.stringify(value))
if (child !== undefined) {
  const { pid } = spawn(process.execPath, ["-e", "setInterval(() => {}, 1000)"], { stdio: "inherit" })
  appendFileSync(file, `child ${pid}\n`)
}

const act = async (line: string): Promise<void> => {
  const { attempt, case: input, id, prompt } = JSON.parse(line)
  appendFileSync(file, `${input.do} ${attempt}\n`)
  const answer = { id, output: `${prompt} ${input.name}` }
  switch (input.do) {
    case "crash":
      throw new Error("a crash")
    case "hang":
      return
    case "twice":
      say(answer)
      return say({ ...answer, output: "the second" })
    case "wrong-id":
      return say({ ...answer, id: "nobody's" })
    case "no-json":
      return console.log(`{"id": "${id}", output: 1}`)
    case "no-id":
      return say({ output: 1 })
    case "huge":
      return void process.stdout.write(`{"id":"${id}","output":"${"x".repeat(100_000_000)}"}\n`)
    case "bad-score":
      return say({ ...answer, score: 7 })
    case "error":
      return say({ id, error: "no key", usd: 0.5 })
    case "noise":
      console.log("loading …")
      console.log('{"level": "info"}')
      console.error("to standard error")
      return say(answer)
    case "slow":
      await setTimeout(100)
      return say(answer)
    default:
      say(answer)
  }
}
createInterface({ input: process.stdin }).on("line", (line) => void act(line))
