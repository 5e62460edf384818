import type { Population } from "@inspo/serve/Population"
import { useState } from "react"
import { count, percent, plural } from "../../../src/Format.ts"
import { Card, Fact, InstructionName, Loading, Problem, Rationale, TextChoice } from "../../part/Parts.tsx"
import { useKeys } from "../../part/useKeys.ts"
import { useScrollInto } from "../../part/useScrollInto.ts"
import { go } from "../../Route.ts"
import { Asking, onMember } from "../Acting.tsx"
import { AddForm } from "../AddForm.tsx"
import { type Node, nodesOf } from "../Nodes.ts"
import { href } from "../Route.ts"
import { useStories } from "../Stories.ts"
import { interval, StandingBadge, Value, Wording } from "../Words.tsx"

/** Where every instruction came from, why it left, and what an admin does with it. */
export const Lineage = ({
  population,
  selected,
  version
}: {
  readonly population: Population
  readonly selected: string | null
  readonly version: string
}) => {
  const { data, problem } = useStories(population.name, version)
  const nodes = data === null ? [] : nodesOf(population.members, data)
  const wanted = nodes.find(({ id }) => id === (selected ?? population.incumbent)) ?? nodes[0]
  const move = (by: number) => {
    const at = nodes.findIndex(({ id }) => id === wanted?.id)
    const next = nodes[Math.min(nodes.length - 1, Math.max(0, at + by))]
    if (next !== undefined) go(href(population.name, "lineage", next.id), "replace")
  }
  useKeys({ j: () => move(1), k: () => move(-1) })
  if (data === null || wanted === undefined) return problem === null ? <Loading /> : <Problem>{problem}</Problem>
  return (
    <div className="split">
      <Card title={plural(nodes.length, "instruction")} className="tree-card scroll-list">
        <ul className="tree">
          {nodes.map((node) => (
            <li key={node.id} style={{ paddingInlineStart: `${node.depth * 1.1}rem` }}>
              <TreeButton node={node} population={population} isSelected={node.id === wanted.id} />
            </li>
          ))}
        </ul>
      </Card>
      <Detail key={wanted.id} node={wanted} nodes={nodes} population={population} />
    </div>
  )
}

const TreeButton = ({
  isSelected,
  node,
  population
}: {
  readonly node: Node
  readonly population: Population
  readonly isSelected: boolean
}) => {
  const button = useScrollInto<HTMLButtonElement>(isSelected)
  return (
    <button
      ref={button}
      type="button"
      className={`tree-node ${isSelected ? "selected" : ""}`}
      aria-pressed={isSelected}
      onClick={() => go(href(population.name, "lineage", node.id))}
    >
      <InstructionName id={node.id} />
      {node.id === population.incumbent && <span className="badge best">incumbent</span>}
      <StandingBadge standing={node.standing} />
      <span className="tree-note">{node.origin}</span>
    </button>
  )
}

const Detail = ({
  node,
  nodes,
  population
}: {
  readonly node: Node
  readonly nodes: ReadonlyArray<Node>
  readonly population: Population
}) => {
  const [whole, setWhole] = useState(false)
  const parent = nodes.find(({ id }) => id === node.parent)
  return (
    <div className="stack">
      <Card
        title={
          <>
            <InstructionName id={node.id} /> <StandingBadge standing={node.standing} />
          </>
        }
      >
        <Facts node={node} population={population} />
        {parent !== undefined && <TextChoice parent={parent.id} whole={whole} onChoose={setWhole} />}
        <Wording from={whole ? undefined : parent?.wording} to={node.wording} />
        <Rationale text={node.story?.rationale} />
      </Card>
      <Actions node={node} population={population} />
    </div>
  )
}

const Facts = ({
  node: { member, origin, parent, story },
  population
}: {
  readonly node: Node
  readonly population: Population
}) => (
  <dl className="facts">
    <Fact name="Came">
      {origin === "seed" || origin === "variant"
        ? `with the population, as ${origin}`
        : `${origin}${parent === null ? "" : ` from ${parent}`}${story === null ? "" : `, after ${plural(story.bornAfter, "cohort")}`}`}
    </Fact>
    {member !== null && (
      <>
        <Fact name="Mean reward">
          <Value estimate={member.estimate} range={population.settings.rewardRange} />{" "}
          <span className="muted">{interval(member.estimate)}</span>
        </Fact>
        <Fact name="Rewards">
          {count(member.estimate.samples)}, {percent(member.estimate.missing)} missing
        </Fact>
        <Fact name="Share">{percent(member.probability)}</Fact>
        {Object.entries(member.strata).length > 1 &&
          Object.entries(member.strata).map(([stratum, estimate]) => (
            <Fact key={stratum} name={`On ${stratum}`}>
              <Value estimate={estimate} range={population.settings.rewardRange} />{" "}
              <span className="muted">{count(estimate.samples)} rewards</span>
            </Fact>
          ))}
      </>
    )}
    {story?.trial !== null && story?.trial !== undefined && <Fact name="Trial">{story.trial}</Fact>}
    {story?.left !== null && story?.left !== undefined && (
      <Fact name="Left">
        after {plural(story.left.after, "cohort")}: {story.left.why}
      </Fact>
    )}
  </dl>
)

const Actions = ({ node, population }: { readonly node: Node; readonly population: Population }) => {
  const { id, member, standing } = node
  const isMember = member !== null && (standing === "member" || standing === "trial")
  return (
    <Card title="What to do with it">
      <div className="actions">
        {isMember && !member.pinned && (
          <Asking
            label={`Pin ${id}`}
            question={`${id} becomes the incumbent, whatever the evidence says, until it is unpinned.`}
            act={({ act }, then) => act(onMember(population.name, { action: "pin", id }), then)}
          />
        )}
        {isMember && member.pinned && (
          <Asking
            label={`Unpin ${id}`}
            question="The evidence chooses the incumbent again."
            act={({ act }, then) => act(onMember(population.name, { action: "pin", id: null }), then)}
          />
        )}
        {isMember && (
          <Asking
            label={`Retire ${id}`}
            question={`${id} is leased no more, and does not come back. Its rewards stay in the log.`}
            act={({ act }, then) => act(onMember(population.name, { action: "retire", id }), then)}
          />
        )}
        <AddForm population={population} from={node} />
      </div>
    </Card>
  )
}
