import type { Member, Population } from "@inspo/serve"
import { Text, count, percent, plural } from "@inspo/report"
import { fromNow } from "../Ago.ts"
import { useLabels } from "../part/Names.tsx"
import { Card, Empty, InstructionLink, InstructionName, Problem, Settings, Share } from "../part/Parts.tsx"
import { type Column, Table } from "../part/Table.tsx"
import { Rationale, Wording } from "../part/Wording.tsx"
import { onMember, useAction } from "../part/Action.tsx"
import { MeanReward, StandingBadge, ToSeed } from "../part/MemberParts.tsx"
import { usePopulationLog } from "../source/PopulationLog.ts"
import { populationRoutes } from "../Route.ts"
import { Button } from "../part/Form.tsx"
import { useMemo, useState } from "react"
import { extentOf, type Stretch } from "../../src/Chart.ts"
import { rewardFigure } from "../../src/served/RewardFigure.ts"
import { ChartMenu, ZoomButtons } from "../chart/Charts.tsx"
import { Chart } from "../chart/Chart.tsx"

interface MembersProps {
  readonly population: Population.Population
  readonly version: string
}

/** The members with their shares and rewards, the candidates that wait for approval, and the open cohorts. */
export const Members = ({ population, version }: MembersProps) => {
  const alive = population.members.filter(({ standing }) => standing === "member")
  const waiting = population.members.filter(({ standing }) => standing === "waiting")
  return (
    <>
      {waiting.map((member) => (
        <Newcomer key={member.id} population={population} member={member} version={version} />
      ))}
      <Card title={plural(alive.length, "member")}>
        <Table
          label="Members"
          className="rows"
          columns={memberColumns(population)}
          rows={alive}
          rowProps={({ id }) => ({ className: id === population.incumbent ? "headline" : "" })}
        />
      </Card>
      <RewardChart name={population.name} instructions={alive.map(({ id }) => id)} version={version} />
      <div className="columns">
        <Card title="Cohorts">
          {population.cohorts.length === 0 ? (
            <Empty title="No open cohort">The next lease opens one.</Empty>
          ) : (
            <Table label="Cohorts" columns={cohortColumns} rows={population.cohorts} />
          )}
        </Card>
        <Settings settings={population.settings} />
      </div>
    </>
  )
}

const memberColumns = ({
  incumbent,
  name,
  settings: { rewardRange }
}: Population.Population): ReadonlyArray<Column<Member.Member>> => [
  [
    "Instruction",
    "",
    ({ id, paused, pinned, wording }) => (
      <>
        <InstructionLink href={populationRoutes.href(name, "lineage", { instruction: id })} id={id} />{" "}
        {id === incumbent && <span className="badge best">incumbent</span>}{" "}
        {pinned && <span className="badge">pinned</span>}
        {paused !== undefined && (
          <span className="badge fate-pruned" title={paused}>
            paused
          </span>
        )}
        <div className="said muted small" dir="auto">
          {Text.oneText(wording)}
        </div>
      </>
    )
  ],
  ["Share", "", ({ probability }) => <Share share={probability} />],
  [
    "Mean reward",
    "",
    ({ estimate, id }) => (
      <>
        <MeanReward estimate={estimate} range={rewardRange} tone={id === incumbent ? "accent" : "plain"} />
        <div className="narrow-only muted small">
          {plural(estimate.samples, "reward")}, {percent(estimate.missing)} missing
        </div>
      </>
    )
  ],
  ["P(best)", "num", ({ chance }) => percent(chance)],
  ["Better than the seed by", "wide-only", ({ toSeed }) => <ToSeed toSeed={toSeed} />],
  ["Rewards", "num wide-only", ({ estimate }) => count(estimate.samples)],
  ["Missing", "num wide-only", ({ estimate }) => percent(estimate.missing)]
]

interface NewcomerProps {
  readonly population: Population.Population
  readonly member: Member.Member
  readonly version: string
}

/** A proposed instruction beside its parent, with the buttons that approve and reject it. */
const Newcomer = ({ member, population, version }: NewcomerProps) => {
  const { act, busy, problem } = useAction()
  const label = useLabels()
  const { data } = usePopulationLog(population.name, version)
  const parent = population.members.find(({ id }) => id === member.parent)
  const decide = (action: "approve" | "reject") => act(onMember(population.name, { action, id: member.id }))
  return (
    <Card
      title={
        <>
          <InstructionName id={member.id} /> <StandingBadge standing={member.standing} />
        </>
      }
      actions={<span className="muted small">{parent === undefined ? "" : `changes to ${label(parent.id)}`}</span>}
    >
      <Wording from={parent?.wording} to={member.wording} />
      <Rationale text={data?.history.known.get(member.id)?.rationale} />
      <div className="form">
        <p className="row tight">
          <button type="button" className="button primary" disabled={busy} onClick={() => decide("approve")}>
            Approve {member.id}
          </button>
          <Button disabled={busy} onClick={() => decide("reject")}>
            Reject {member.id}
          </Button>
        </p>
        {problem !== null && <Problem>{problem}</Problem>}
      </div>
    </Card>
  )
}

type Cohort = Population.Population["cohorts"][number]

const missing = ({ leases, reported }: Cohort): number => (leases === null || reported === null ? 0 : leases - reported)

const cohortColumns: ReadonlyArray<Column<Cohort>> = [
  ["Cohort", "", ({ cohort }) => <span dir="auto">{cohort}</span>],
  [
    "State",
    "",
    (cohort) => (
      <>
        {cohort.state}{" "}
        {cohort.state === "sealed" && missing(cohort) > 0 && (
          <span className="badge mode">{count(missing(cohort))} overdue</span>
        )}
      </>
    )
  ],
  [
    "Reported",
    "num",
    ({ leases, reported }) => (
      <>
        {reported === null ? "–" : count(reported)}
        <span className="muted"> / {leases === null ? "–" : count(leases)}</span>
      </>
    )
  ],
  [
    "Closes",
    "",
    ({ closesAt }) => (
      <span className="muted">{closesAt === null ? "on request, or when complete" : fromNow(closesAt)}</span>
    )
  ]
]

interface RewardChartProps {
  readonly name: string
  readonly instructions: ReadonlyArray<string>
  readonly version: string
}

/** The rewards of the first instructions over cohorts; nothing before the first reward. */
const RewardChart = ({ instructions, name, version }: RewardChartProps) => {
  const { data } = usePopulationLog(name, version)
  const [zoom, setZoom] = useState<Stretch | null>(null)
  const shown = instructions.join(" ")
  const figure = useMemo(() => (data === null ? null : rewardFigure(data, shown.split(" "))), [data, shown])
  if (figure === null) return null
  const extent = extentOf([{ x: figure.steps }])
  return (
    <Card title="Rewards over cohorts" actions={<ZoomButtons extent={extent} zoom={zoom} onZoom={setZoom} />}>
      <Chart figure={figure} zoom={zoom} onZoom={setZoom} menu={<ChartMenu figure={figure} />} />
    </Card>
  )
}
