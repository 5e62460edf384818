/**
 * Improves a prompt from a file of scored outputs, with `inspo serve` running:
 *
 *     node improve-from-a-file/main.ts prompt.txt scored.jsonl
 *
 * A line of the file is `{"input": …, "output": …, "score": 0 to 1, "feedback": …}`; feedback is optional.
 */
import { readFile } from "node:fs/promises"
import { improve, type Row } from "./ImproveFromAFile.ts"

const [promptFile, scoredFile] = process.argv.slice(2)
if (promptFile === undefined || scoredFile === undefined)
  throw new Error("pass the file of the prompt and the file of the rows")
const rows = (await readFile(scoredFile, "utf8"))
  .split("\n")
  .filter((line) => line.trim() !== "")
  .map((line): Row => JSON.parse(line))
const { INSPO_KEY, INSPO_URL = "http://127.0.0.1:8700" } = process.env
const prompts = await improve({
  url: INSPO_URL,
  name: "from-a-file",
  prompt: (await readFile(promptFile, "utf8")).trim(),
  rows,
  seconds: 300,
  ...(INSPO_KEY === undefined ? {} : { key: INSPO_KEY })
})
for (const prompt of prompts) process.stdout.write(`${prompt}\n\n`)
process.stdout.write(`Approve one at ${INSPO_URL}/#/from-a-file\n`)
