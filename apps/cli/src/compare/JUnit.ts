import type { Compared, CompareResult } from "@inspo/evolve"
import { percent, points, Text } from "@inspo/report"

type Result = Pick<CompareResult, "candidates" | "requirement">

/** A JUnit report: a test for each candidate. What is undecided is skipped where nothing is required, and fails where it is. */
export const junit = ({ candidates, requirement }: Result): string => {
  const outcomes = candidates.map((one) => outcomeOf(one, requirement))
  const count = (name: string) => outcomes.filter((one) => one === name).length
  return [
    `<?xml version="1.0" encoding="UTF-8"?>`,
    `<testsuites>`,
    `  <testsuite name="inspo compare" tests="${candidates.length}" failures="${count("failure")}" skipped="${count("skipped")}">`,
    ...candidates.flatMap((one, at) => {
      const { cases, gain, prompt, verdict } = one
      const said = `${verdict}: ${points(gain.mean)} points [${points(gain.lower)}, ${points(gain.upper)}] on ${cases} cases, score ${percent(one.score)}`
      const outcome = outcomes[at] ?? "passed"
      return [
        `    <testcase classname="inspo.compare" name="${escaped(Text.clip(Text.oneText(prompt), 80))}">`,
        outcome === "passed"
          ? `      <system-out>${escaped(said)}</system-out>`
          : `      <${outcome} message="${escaped(said)}"/>`,
        `    </testcase>`
      ]
    }),
    `  </testsuite>`,
    `</testsuites>`,
    ""
  ].join("\n")
}

const outcomeOf = (
  { isMet, verdict }: Compared,
  requirement: Result["requirement"]
): "passed" | "failure" | "skipped" => {
  if (requirement !== null) return isMet === true ? "passed" : "failure"
  return verdict === "worse" ? "failure" : verdict === "undecided" ? "skipped" : "passed"
}

const escaped = (text: string): string =>
  text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll('"', "&quot;").replaceAll(/\s/gu, " ")
