/** The program of a reward (`reward.kind.command`): a name of `Measures.ts`, such as `score.ts letter`, or of a reward of the blind study. */
import { createInterface } from "node:readline"
import type { Line } from "@inspo/reward/CommandReward"
import { rewards } from "../blind/Rewards.ts"
import { answered, measures } from "./Measures.ts"

const [, , name = ""] = process.argv
const all = new Map<string, (text: string, goldenAnswers: ReadonlyArray<string>) => number>([
  ...Object.entries(measures),
  ...rewards.map(({ holds, name }) => [name, blind(holds)] as const)
])
const measure = all.get(name)
if (measure === undefined) throw new Error(`the measure is ${name}; expected ${[...all.keys()].join(", ")}`)
for await (const text of createInterface({ input: process.stdin })) {
  const { answer, golden_answers, response }: Line = JSON.parse(text)
  process.stdout.write(`${measure(answered(response, answer), golden_answers)}\n`)
}

/** A reward of the blind study; its golden answers are what it knows of the question. */
function blind(holds: (typeof rewards)[number]["holds"]) {
  return (text: string, [name = "", number = "", question = ""]: ReadonlyArray<string>): number =>
    holds(text.trim(), { name, number: Number(number), question }) ? 1 : 0
}
