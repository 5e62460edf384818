/** The program of a reward (`reward.kind.command`): `score.ts words`, `parts`, `calculated` or `letter`, after `Measures.ts`. */
import { createInterface } from "node:readline"
import type { Line } from "@inspo/reward/CommandReward"
import { answered, measures } from "./Measures.ts"

const [, , name = ""] = process.argv
const measure = Object.entries(measures).find(([one]) => one === name)?.[1]
if (measure === undefined) throw new Error(`the measure is ${name}; expected ${Object.keys(measures).join(", ")}`)
for await (const text of createInterface({ input: process.stdin })) {
  const { answer, golden_answers, response }: Line = JSON.parse(text)
  process.stdout.write(`${measure(answered(response, answer), golden_answers)}\n`)
}
