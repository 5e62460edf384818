/**
 * `inspo plan --probe` on the tasks of the gate with a real language model: does it say whether instructions pay?
 *
 *     .cache/compatibility/bin/python research/studies/model/sample.py --model .cache/model/SmolLM2-135M-Instruct.Q4_1.gguf
 *     npx pnpm@12 exec node research/studies/model/probe.ts letter 800 960
 *
 * The arguments are a task, the rollouts of the probe and those of the run that it is about. The variants are the next four instructions
 * of the gate, or with `--clauses` each clause alone, which is what a run tries first. `--questions` is a file with questions and passages
 * for the task `passages`, such as the one that `research frozen-passages` leaves. `--set` and `--json` are those of `inspo plan`.
 */
import { spawnSync } from "node:child_process"
import { mkdirSync, writeFileSync } from "node:fs"
import { parseArgs } from "node:util"
import { fileURLToPath } from "node:url"
import { Presets, RunConfig } from "@inspo/config"
import { ClauseBank } from "@inspo/reflection"
import { Schema } from "effect"
import { configure, tasks } from "../src/gate/Tasks.ts"
import { setFlags } from "./Programs.ts"

const { positionals, values: flags } = parseArgs({
  allowPositionals: true,
  options: {
    clauses: { type: "boolean", default: false },
    questions: { type: "string" },
    set: { type: "string", multiple: true, default: [] },
    json: { type: "boolean", default: false },
    url: { type: "string", default: "http://127.0.0.1:8080" },
    tokenizer: { type: "string", default: ".cache/model/SmolLM2-135M-Instruct.Q4_1.gguf" },
    out: { type: "string", default: "runs/probe" }
  }
})
const [name, probe = "400", rollouts = "640"] = positionals
const task = tasks.find((one) => one.name === name)
if (task === undefined) throw new Error(`the task is ${name}, expected ${tasks.map((one) => one.name).join(", ")}`)

/** Questions with another seed than those of the other studies. */
const generated = () =>
  task
    .questions({ questions: [], passages: [] }, 1000, 3)
    .map(({ goldenAnswers, id, question }, index) =>
      JSON.stringify({
        id,
        question,
        golden_answers: goldenAnswers,
        data_source: task.name,
        split: index === 0 ? "test" : "train"
      })
    )
    .join("\n")

const [plain, ...others] = task.instructions
const variants = flags.clauses ? [] : others.slice(0, 4)
const [groupSize, batchSize] = [4, 4]
const base = configure(task, Presets.quick)
mkdirSync(flags.out, { recursive: true })
const questions = flags.questions ?? `${flags.out}/${task.name}.jsonl`
const config = `${flags.out}/${task.name}.json`
if (flags.questions === undefined) writeFileSync(questions, generated())
writeFileSync(
  config,
  JSON.stringify(
    Schema.encodeSync(RunConfig)({
      ...base,
      data: { ...base.data, questions },
      seedInstruction: plain,
      variants,
      population: { ...base.population, size: 1 + (flags.clauses ? task.sentences.length : variants.length) },
      control: { ...base.control, clauses: ClauseBank.ofSentences(task.sentences) },
      schedule: { ...base.schedule, steps: Math.floor(Number(rollouts) / groupSize / batchSize) },
      rollout: { ...base.rollout, groupSize },
      train: { ...base.train, batchSize, miniBatch: { ...base.train.miniBatch, size: batchSize } },
      evaluation: { ...base.evaluation, questions: 1 },
      engine: { ...base.engine, url: flags.url, profile: "completions", tokenizer: flags.tokenizer }
    })
  )
)
const { status } = spawnSync(
  process.execPath,
  [
    fileURLToPath(new URL("../../../apps/cli/src/main.ts", import.meta.url)),
    "plan",
    config,
    "--probe",
    probe,
    ...(flags.json ? ["--json"] : []),
    ...setFlags(flags.set)
  ],
  { stdio: "inherit" }
)
process.exitCode = status ?? 1
