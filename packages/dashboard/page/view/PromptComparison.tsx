import * as Conclusion from "@inspo/evolve/SearchView"
import { useMemo } from "react"
import { capital, count, distinction, percent, plural } from "@inspo/report"
import * as EvidenceFigure from "../../src/EvidenceFigure.ts"
import type { PromptComparison as Comparison } from "../../src/view/PromptComparison.ts"
import type { SearchRow } from "../../src/view/SearchRow.ts"
import { CourseChart } from "../chart/Charts.tsx"
import { Card, Empty, Expander, Pending, Settings, Tiles } from "../part/Parts.tsx"
import { type Column, Table } from "../part/Table.tsx"
import { makeQuery } from "../source/RunClient.ts"
import { Gain, Verdict } from "./SearchParts.tsx"

const useComparison = makeQuery((client, search: string) => client.comparison({ params: { search } }))

/** The page of a comparison of prompts. */
export const PromptComparison = ({ search }: { readonly search: SearchRow }) => {
  const { data, problem } = useComparison(search.id, JSON.stringify(search.summary))
  const figure = useMemo(() => (data === null ? null : EvidenceFigure.ofComparison(data)), [data])
  if (data === null || figure === null) return <Pending problem={problem} />
  const { candidates, control, costs, identity, isMet, margin, requirement } = data
  const { summary } = search
  return (
    <>
      <h1 className="hidden">{search.name}, comparison</h1>
      <Tiles
        of={[
          ["Verdict", summary?.verdict ?? "none yet", candidates.length > 1 && "of the best candidate"],
          requirement !== null && [
            `Required: ${requirement}`,
            isMet === null ? "not known" : isMet ? "met" : "not met"
          ],
          ["Margin", `${Conclusion.points(margin)} points`, "a smaller loss is no worse"],
          ["Calls", count(summary?.calls ?? 0), `of at most ${count(summary?.budget ?? 0)}`]
        ]}
      />
      {candidates.map(({ prompt, sentence }, place) => (
        <p key={place} dir="auto">
          {candidates.length > 1 && <b>{prompt}: </b>}
          {sentence}
        </p>
      ))}
      <Card>
        {figure.steps.length === 1 ? (
          <Empty title="No look yet">Curves appear when the first cases were answered under both prompts.</Empty>
        ) : (
          <CourseChart figure={figure} />
        )}
      </Card>
      <Card title={plural(candidates.length + 1, "prompt")}>
        <Table
          label="Prompts"
          className="rows"
          columns={columns}
          rows={[
            { ...control, control: null, verdict: "control", gain: null, cases: null, improved: null, worsened: null },
            ...candidates.map((one) => ({ ...one, control: control.prompt }))
          ]}
        />
      </Card>
      {candidates.flatMap(({ changes, prompt }, candidate) =>
        changes.map(({ cases, count: all, title }) => (
          <Expander
            key={`${candidate} ${title}`}
            summary={`${title}${candidates.length > 1 ? ` under ${prompt}` : ""}: ${count(all)}`}
          >
            <ul className="lines">
              {cases.map((one, place) => (
                <li key={place} dir="auto">
                  <span className="num">
                    {percent(one.control, 0)} → {percent(one.candidate, 0)}
                  </span>{" "}
                  {one.case}
                </li>
              ))}
            </ul>
          </Expander>
        ))
      )}
      <p className="muted">{costs}</p>
      <Settings settings={identity} />
    </>
  )
}

type Arm = Pick<Comparison["candidates"][number], "prompt" | "verdict" | "score"> & {
  readonly [Field in "cases" | "improved" | "worsened"]: number | null
} & {
  readonly gain: Comparison["candidates"][number]["gain"] | null
  /** The prompt to distinguish it from; null for the control. */
  readonly control: string | null
}

const columns: ReadonlyArray<Column<Arm>> = [
  ["Prompt", "", ({ control, prompt }) => <div className="small">{distinction(control, prompt, 120)}</div>],
  ["Verdict", "", ({ verdict }) => <Verdict verdict={verdict} />],
  ["Score", "num", ({ score }) => percent(score)],
  ["Difference, points", "", ({ gain }) => <Gain gain={gain} />],
  ...(["cases", "improved", "worsened"] as const).map((field): Column<Arm> => [
    capital(field),
    "num wide-only",
    ({ [field]: value }) => (value === null ? "–" : count(value))
  ])
]
