/** The files of a run directory. */
export const filesOf = (directory: string) => ({
  config: `${directory}/config.json`,
  journal: `${directory}/journal.sqlite`,
  metrics: `${directory}/metrics.jsonl`,
  timings: `${directory}/timings.jsonl`,
  traces: `${directory}/traces.jsonl`,
  candidates: `${directory}/candidates.json`,
  bestInstruction: `${directory}/best_instruction.txt`,
  outcome: `${directory}/outcome.json`,
  report: `${directory}/report.md`,
  htmlReport: `${directory}/report.html`,
  /** What was committed and spent by the last commit, to check the journal by. */
  spent: `${directory}/spent.json`,
  /** What ended a session that failed, with stacks and causes. */
  errors: `${directory}/errors.log`,
  checkpoints: `${directory}/checkpoints`,
  baseline: `${directory}/baseline`,
  /** Created to stop the run. */
  stop: `${directory}/stop`
})
