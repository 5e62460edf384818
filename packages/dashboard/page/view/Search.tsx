import * as Conclusion from "@inspo/evolve/SearchView"
import type { Tried } from "@inspo/evolve/SearchView"
import { type ReactNode, useMemo, useState } from "react"
import { Text, count, distinction, dollars, inWords, names, percent, plural, points } from "@inspo/report"
import * as EvidenceFigure from "../../src/EvidenceFigure.ts"
import { courseOf } from "../../src/view/SearchCourse.ts"
import type { SearchDetail, SearchRow } from "../../src/view/SearchRow.ts"
import { gains, probabilities } from "../../src/Courses.ts"
import { CourseChart } from "../chart/Charts.tsx"
import { makeQuery } from "../source/RunClient.ts"
import { Names, useLabels } from "../part/Names.tsx"
import {
  Bar,
  Card,
  Empty,
  Expander,
  InstructionLink,
  InstructionName,
  MarkLegend,
  Pending,
  Problem,
  Settings,
  Share,
  Tiles
} from "../part/Parts.tsx"
import { type Column, Table } from "../part/Table.tsx"
import { Wording } from "../part/Wording.tsx"
import { type SearchRoute, searchRoutes } from "../Route.ts"
import { FailingCases, SearchCases } from "./SearchCases.tsx"
import { SearchLineage } from "./SearchLineage.tsx"
import { Gain } from "./SearchParts.tsx"

const useSearch = makeQuery((client, search: string) => client.search({ params: { search } }))

export const Search = ({ route, search }: { readonly search: SearchRow; readonly route: SearchRoute }) => {
  const { data, problem } = useSearch(search.id, JSON.stringify(search.summary))
  const tried = data?.tried
  const named = useMemo(() => namesOf(tried ?? []), [tried])
  if (data === null) return <Pending problem={problem} />
  return (
    <Names value={named}>
      <h1 className="hidden">
        {search.name}, {route.view}
      </h1>
      {problem !== null && <Problem>{problem}</Problem>}
      {route.view === "search" && <Overview search={search} detail={data} />}
      {route.view === "lineage" && <SearchLineage search={search} detail={data} route={route} />}
      {route.view === "cases" && <SearchCases detail={data} />}
    </Names>
  )
}

/** What distinguishes each prompt from its parent. */
const namesOf = (tried: ReadonlyArray<Tried>): Readonly<Record<string, string>> => {
  const named = names(tried.map(({ content, id, parent }) => ({ id, parent, text: Text.oneText(content) })))
  return Object.fromEntries([...named].map(([id, name]) => [id, id === tried[0]?.id ? "given" : name]))
}

interface Props {
  readonly search: SearchRow
  readonly detail: SearchDetail
}

const Overview = ({ detail, search }: Props) => (
  <>
    <Figures search={search} detail={detail} />
    {detail.verdict !== null && <p>{Conclusion.sentence(detail, detail.tried.length - 1)}</p>}
    <Course search={search} detail={detail} />
    <div className="columns">
      <Change search={search} detail={detail} />
      <FailingCases
        detail={detail}
        most={mostFailing}
        actions={
          detail.failingCount > mostFailing && (
            <a href={searchRoutes.href(search.id, "cases")}>All {count(detail.failingCount)}</a>
          )
        }
      />
    </div>
    <Wrong detail={detail} />
    <Settings
      settings={{
        ...detail.identity,
        "cases of the search": detail.cases.search,
        "cases held out": detail.cases.test,
        "smallest gain of interest": `${points(detail.minimalGain)} points`,
        "random seed": detail.randomSeed
      }}
    />
  </>
)

const phases = { search: "searching", test: "testing on held-out cases", done: "done" } as const

/** Why a search asked nothing more. */
const reasons = {
  budget: "the budget is used",
  "no-more-proposals": "nothing new was proposed",
  "no-headroom": "no prompt can be much better"
} as const

const Figures = ({ detail, search: { status } }: Props) => {
  const { because, budget, budgetUsd, calls, leader, phase, prompt, rejected, rounds, test, tried, usd, verdict } =
    detail
  const gain = test?.gain ?? tried.find(({ id }) => id === leader)?.gain ?? null
  const next = status === "quiet" ? "stopped; the same command continues it" : `round ${rounds.length + 1}`
  return (
    <Tiles
      of={[
        ["Verdict", verdict ?? phases[phase], verdict === null ? next : because && reasons[because]],
        ["Prompt in use", <InstructionName id={prompt} />, Conclusion.shownOf(detail)],
        [
          test === null ? "Gain of the leader, points" : "Gain on held-out cases, points",
          gain === null ? "–" : [points(gain.mean), " ", <InstructionName key="id" id={test?.finalist ?? leader} />],
          gain === null
            ? "the prompt that was given leads"
            : `[${points(gain.lower)}, ${points(gain.upper)}], the ${test === null ? "95" : "90"} % interval`
        ],
        ["Calls", count(calls), <Used share={calls / budget}>of {count(budget)}</Used>],
        [
          "Spent",
          dollars(usd),
          budgetUsd === null ? "no limit in US dollars" : <Used share={usd / budgetUsd}>of {dollars(budgetUsd)}</Used>
        ],
        ["Prompts", count(tried.length), `${plural(rejected.length, "proposal")} broke a rule`]
      ]}
    />
  )
}

/** How much of a budget is used. */
const Used = ({ children, share }: { readonly share: number; readonly children: ReactNode }) => (
  <>
    {children}
    <Bar share={Math.min(1, share)} />
  </>
)

const Course = ({ detail, search }: Props) => {
  const [picked, setPicked] = useState<string | null>(null)
  const label = useLabels()
  const course = useMemo(() => ({ ...courseOf(detail), label, unit: "Round" }), [detail, label])
  const chances = useMemo(
    () =>
      probabilities({
        ...course,
        title: "Probability of being the best",
        lives: course.lives.map(({ from, id, probabilities }) => ({ id, from, values: probabilities }))
      }),
    [course]
  )
  const gained = useMemo(
    () =>
      gains(
        {
          ...course,
          title: "Points to the given prompt",
          lives: course.lives.map(({ from, gains, id }) => ({ id, from, values: gains }))
        },
        picked ?? detail.leader
      ),
    [course, picked, detail.leader]
  )
  const tested = useMemo(
    () => (detail.test === null ? null : EvidenceFigure.ofTest(detail.test, detail.aim)),
    [detail.test, detail.aim]
  )
  const members = detail.tried.filter(({ left }) => left === null)
  const removed = detail.tried.length - members.length
  return (
    <>
      {course.steps.length === 0 ? (
        <Empty title="No round yet">Curves appear when the first cases were answered under the given prompt.</Empty>
      ) : (
        <div className="columns">
          <Card>
            <CourseChart figure={chances} picked={picked} onPick={setPicked} />
            <MarkLegend />
          </Card>
          <Card>
            <CourseChart figure={gained} picked={picked} onPick={setPicked} />
          </Card>
        </div>
      )}
      {tested !== null && (
        <Card>
          <CourseChart figure={tested} />
        </Card>
      )}
      <Card
        title={plural(members.length, "member")}
        actions={
          removed === 0 ? undefined : (
            <a href={searchRoutes.href(search.id, "lineage")}>{plural(removed, "other prompt")} left the search</a>
          )
        }
      >
        <Table
          label="Members"
          className="rows"
          columns={memberColumns(search, detail)}
          rows={members}
          rowProps={({ id }) => ({
            className: `${id === detail.prompt ? "headline" : ""} ${picked === id ? "picked" : ""}`,
            onPointerEnter: () => setPicked(id),
            onPointerLeave: () => setPicked(null)
          })}
        />
      </Card>
    </>
  )
}

const memberColumns = (
  { id: search }: SearchRow,
  { leader, prompt, tried }: SearchDetail
): ReadonlyArray<Column<Tried>> => [
  [
    "Prompt",
    "",
    ({ content, id }) => (
      <>
        <InstructionLink href={searchRoutes.href(search, "lineage", { instruction: id })} id={id} />{" "}
        {id === prompt && <span className="badge best">in use</span>}{" "}
        {id === leader && id !== prompt && <span className="badge mode">leader</span>}
        <div className="said muted small" dir="auto">
          {distinction(id === tried[0].id ? null : Text.oneText(tried[0].content), Text.oneText(content), 120)}
        </div>
      </>
    )
  ],
  ["P(best)", "", ({ chance }) => (chance === null ? "–" : <Share share={chance} />)],
  ["Score", "num", ({ score }) => percent(score)],
  ["Gain, points", "", ({ gain }) => <Gain gain={gain} />],
  ["Cases", "num wide-only", ({ cases }) => count(cases)]
]

/** How the prompt that was tested, or leads, differs from the one that was given. */
const Change = ({ detail: { leader, test, tried }, search }: Props) => {
  const [given] = tried
  const other = tried.find(({ id }) => id === (test?.finalist ?? leader)) ?? given
  return (
    <Card
      title={
        other.id === given.id ? (
          "The prompt that was given leads"
        ) : (
          <>
            What changed: <InstructionName id={given.id} /> → <InstructionName id={other.id} />
          </>
        )
      }
      actions={<a href={searchRoutes.href(search.id, "lineage", { instruction: other.id })}>Lineage</a>}
    >
      <Wording from={other.id === given.id ? undefined : given.content} to={other.content} />
    </Card>
  )
}

/** Cases that the overview shows. */
const mostFailing = 5

/** Proposals that break a rule, by the rule, and requests that failed. */
const Wrong = ({ detail: { failures, rejected } }: Pick<Props, "detail">) => {
  if (rejected.length + failures.length === 0) return null
  return (
    <Card title="What went wrong">
      <div className="failures">
        {[...Map.groupBy(rejected, ({ reason }) => reason)].map(([reason, own]) => (
          <Expander
            key={reason}
            className=""
            summary={`${plural(own.length, "proposal")} rejected: a proposal ${inWords(reason)}`}
          >
            {own.map(({ text }, place) => (
              <blockquote key={place} dir="auto">
                {text}
              </blockquote>
            ))}
          </Expander>
        ))}
        {[...Map.groupBy(failures, (failure) => failure)].map(([failure, own]) => (
          <p key={failure} dir="auto">
            {plural(own.length, "request")} failed: {failure}
          </p>
        ))}
      </div>
    </Card>
  )
}
