import type { Member } from "@inspo/serve/Member"
import type { Population } from "@inspo/serve/Population"
import { count, percent } from "../../../src/Format.ts"
import { Card, Empty, InstructionName, Problem, Rationale, Scroll } from "../../part/Parts.tsx"
import { onMember, useActing } from "../Acting.tsx"
import { href } from "../Route.ts"
import { useStories } from "../Stories.ts"
import { due, Share, StandingBadge, textsOf, Value, Wording } from "../Words.tsx"

/** Who is leased how often and how well it does, who waits for approval, and which cohorts are open. */
export const Members = ({ population, version }: { readonly population: Population; readonly version: string }) => {
  const alive = population.members.filter(({ standing }) => standing === "member" || standing === "trial")
  const waiting = population.members.filter(({ standing }) => standing === "waiting")
  return (
    <>
      {waiting.map((member) => (
        <Newcomer key={member.id} population={population} member={member} version={version} />
      ))}
      <Card title={`${alive.length} members`}>
        <Scroll label="Members">
          <table className="table rows">
            <thead>
              <tr>
                <th scope="col">Instruction</th>
                <th scope="col">Share</th>
                <th scope="col">Mean reward</th>
                <th scope="col" className="num wide-only">
                  Rewards
                </th>
                <th scope="col" className="num wide-only">
                  Silent
                </th>
              </tr>
            </thead>
            <tbody>
              {alive.map((member) => (
                <MemberRow key={member.id} population={population} member={member} />
              ))}
            </tbody>
          </table>
        </Scroll>
      </Card>
      <div className="columns">
        <Cohorts population={population} />
        <details className="card">
          <summary>Settings</summary>
          <dl className="settings">
            {Object.entries(population.settings).map(([name, value]) => (
              <div key={name}>
                <dt>{name}</dt>
                <dd dir="auto">{typeof value === "string" ? value : JSON.stringify(value)}</dd>
              </div>
            ))}
          </dl>
        </details>
      </div>
    </>
  )
}

const MemberRow = ({ member, population }: { readonly population: Population; readonly member: Member }) => {
  const { estimate, id, pinned, probability, standing, wording } = member
  const isIncumbent = id === population.incumbent
  return (
    <tr className={isIncumbent ? "headline" : ""}>
      <th scope="row">
        <a href={href(population.name, "lineage", id)}>
          <InstructionName id={id} />
        </a>{" "}
        {isIncumbent && <span className="badge best">incumbent</span>} {pinned && <span className="badge">pinned</span>}{" "}
        {standing === "trial" && <StandingBadge standing={standing} />}
        <div className="said" dir="auto">
          {textsOf(wording)
            .map(([, text]) => text)
            .join(" · ")}
        </div>
      </th>
      <td>
        <Share probability={probability} />
      </td>
      <td>
        <Value estimate={estimate} range={population.settings.rewardRange} tone={isIncumbent ? "accent" : "plain"} />
        <div className="narrow-only muted small">
          {count(estimate.samples)} rewards, {percent(estimate.missing)} missing
        </div>
      </td>
      <td className="num wide-only">{count(estimate.samples)}</td>
      <td className="num wide-only">{percent(estimate.missing)}</td>
    </tr>
  )
}

/** A proposed instruction beside its parent, until somebody decides on it. */
const Newcomer = ({
  member,
  population,
  version
}: {
  readonly population: Population
  readonly member: Member
  readonly version: string
}) => {
  const { act, busy, problem } = useActing()
  const { data } = useStories(population.name, version)
  const parent = population.members.find(({ id }) => id === member.parent)
  const rationale = data?.history.known.get(member.id)?.rationale
  const decide = (action: "approve" | "reject") => act(onMember(population.name, { action, id: member.id }))
  return (
    <Card
      title={
        <>
          <InstructionName id={member.id} /> <StandingBadge standing={member.standing} />
        </>
      }
      actions={<span className="muted small">{parent === undefined ? "" : `changes to ${parent.id}`}</span>}
    >
      <Wording from={parent?.wording} to={member.wording} />
      <Rationale text={rationale} />
      <div className="form">
        <p className="buttons">
          <button type="button" className="button primary" disabled={busy} onClick={() => decide("approve")}>
            Approve {member.id}
          </button>
          <button type="button" className="button" disabled={busy} onClick={() => decide("reject")}>
            Reject {member.id}
          </button>
        </p>
        {problem !== null && <Problem>{problem}</Problem>}
      </div>
    </Card>
  )
}

const Cohorts = ({ population: { cohorts } }: { readonly population: Population }) => (
  <Card title="Cohorts">
    {cohorts.length === 0 ? (
      <Empty title="None is open">One opens with the next lease.</Empty>
    ) : (
      <Scroll label="Cohorts">
        <table className="table">
          <thead>
            <tr>
              <th scope="col">Cohort</th>
              <th scope="col">State</th>
              <th scope="col" className="num">
                Reported
              </th>
              <th scope="col">Closes</th>
            </tr>
          </thead>
          <tbody>
            {cohorts.map((one) => (
              <CohortRow key={one.cohort} cohort={one} />
            ))}
          </tbody>
        </table>
      </Scroll>
    )}
  </Card>
)

const CohortRow = ({
  cohort: { closesAt, cohort, leases, reported, state }
}: {
  readonly cohort: Population["cohorts"][number]
}) => {
  const missing = leases === null || reported === null ? 0 : leases - reported
  return (
    <tr>
      <th scope="row" dir="auto">
        {cohort}
      </th>
      <td>
        {state} {state === "sealed" && missing > 0 && <span className="badge mode">{count(missing)} overdue</span>}
      </td>
      <td className="num">
        {reported === null ? "–" : count(reported)}
        <span className="muted"> / {leases === null ? "–" : count(leases)}</span>
      </td>
      <td className="muted">{closesAt === null ? "when asked to, or complete" : due(closesAt)}</td>
    </tr>
  )
}
