/** The program of a reward (`reward.kind.command`): `score.ts letter`, or with the name of a reward of the blind study. */
import { createInterface } from "node:readline"
import type { Line } from "@inspo/reward/CommandReward"
import { rewards } from "../blind/Rewards.ts"
import { answered, letter } from "./Measures.ts"

const [, , name = ""] = process.argv
const reward = rewards.find((one) => one.name === name)
if (reward === undefined && name !== "letter")
  throw new Error(`the measure is ${name}; expected letter, ${rewards.map((one) => one.name).join(", ")}`)
for await (const text of createInterface({ input: process.stdin })) {
  const { answer, golden_answers, response }: Line = JSON.parse(text)
  process.stdout.write(`${measure(answered(response, answer), golden_answers)}\n`)
}

/** The golden answers of a question of the blind study are what its rewards know of it. */
function measure(text: string, golden: ReadonlyArray<string>): number {
  const [person = "", number = "", question = ""] = golden
  return reward === undefined
    ? letter(text, golden)
    : Number(reward.holds(text.trim(), { name: person, number: Number(number), question }))
}
