import type { Member, Population } from "@inspo/serve"
import { count, percent, plural, Text } from "@inspo/report"
import { useLabels } from "../part/Names.tsx"
import { Card, Facts, InstructionName, Pending, withMuted } from "../part/Parts.tsx"
import { Tree } from "../part/Tree.tsx"
import { WordingChoice, Wording } from "../part/Wording.tsx"
import { go } from "../Routing.ts"
import { ActionForm, onMember } from "../part/Action.tsx"
import { type Node, nodesOf } from "../source/InstructionTree.ts"
import { intervalOf, MeanReward, StandingBadge, ToSeed } from "../part/MemberParts.tsx"
import { usePopulationLog } from "../source/PopulationLog.ts"
import { populationRoutes } from "../Route.ts"
import { useState } from "react"
import { Field } from "../part/Form.tsx"

interface LineageProps {
  readonly population: Population.Population
  readonly selected: string | undefined
  readonly version: string
}

/** The parent of every instruction, why it was removed, and the actions of an admin. */
export const Lineage = ({ population, selected, version }: LineageProps) => {
  const { data, problem } = usePopulationLog(population.name, version)
  const nodes = data === null ? [] : nodesOf(population.members, data)
  const wanted = nodes.find(({ id }) => id === (selected ?? population.incumbent)) ?? nodes[0]
  if (data === null || wanted === undefined) return <Pending problem={problem} />
  return (
    <div className="split">
      <Tree
        title={plural(nodes.length, "instruction")}
        nodes={nodes}
        selected={wanted.key}
        onSelect={(instruction, how) => go(populationRoutes.href(population.name, "lineage", { instruction }), how)}
      >
        {({ id, origin, standing }) => (
          <>
            <InstructionName id={id} />
            {id === population.incumbent && <span className="badge best">incumbent</span>}
            <StandingBadge standing={standing} />
            <span className="tree-note muted small num">{origin}</span>
          </>
        )}
      </Tree>
      <Detail key={wanted.id} node={wanted} nodes={nodes} population={population} />
    </div>
  )
}

interface NodeProps {
  readonly node: Node
  readonly population: Population.Population
}

const Detail = ({ node, nodes, population }: NodeProps & { readonly nodes: ReadonlyArray<Node> }) => (
  <div className="stack">
    <Card
      title={
        <>
          <InstructionName id={node.id} /> <StandingBadge standing={node.standing} />
        </>
      }
    >
      <NodeFacts node={node} population={population} />
      <WordingChoice
        wording={node.wording}
        parent={nodes.find(({ id }) => id === node.parent)}
        rationale={node.history?.rationale}
      />
    </Card>
    <Actions node={node} population={population} />
  </div>
)

const NodeFacts = ({ node: { history, member, origin, parent }, population }: NodeProps) => {
  const label = useLabels()
  const range = population.settings.rewardRange
  const from = parent === null ? "" : ` from ${label(parent)}`
  const after = history === null ? "" : `, after ${plural(history.bornAfter, "cohort")}`
  const strata = Object.entries(member?.strata ?? {})
  const mean = (estimate: Member.Estimate, note: string) =>
    withMuted(<MeanReward estimate={estimate} range={range} />, note)
  return (
    <Facts
      of={[
        [
          "Added",
          origin === "seed" || origin === "variant" ? `with the population, as ${origin}` : `${origin}${from}${after}`
        ],
        ...(member === null
          ? []
          : ([
              ["Mean reward", mean(member.estimate, intervalOf(member.estimate))],
              ["Rewards", `${count(member.estimate.samples)}, ${percent(member.estimate.missing)} missing`],
              ["Share", percent(member.probability)],
              ["Best with probability", percent(member.chance)],
              ["Better than the seed by", <ToSeed toSeed={member.toSeed} />]
            ] as const)),
        ...(strata.length > 1 ? strata : []).map(
          ([stratum, estimate]) => [`In ${stratum}`, mean(estimate, plural(estimate.samples, "reward"))] as const
        ),
        history !== null &&
          history.left !== null && ["Removed", `after ${plural(history.left.after, "cohort")}: ${history.left.why}`]
      ]}
    />
  )
}

const Actions = ({ node, population: { name }, population }: NodeProps) => {
  const { id, member, standing } = node
  return (
    <Card title="Actions">
      <div className="row tight">
        {member !== null && standing === "member" && (
          <>
            {member.pinned ? (
              <ActionForm label={`Unpin ${id}`} request={onMember(name, { action: "pin", id: null })}>
                <p>The server selects the incumbent by the rewards again.</p>
              </ActionForm>
            ) : (
              <ActionForm label={`Pin ${id}`} request={onMember(name, { action: "pin", id })}>
                <p>{id} is the incumbent until you unpin it, whatever its rewards are.</p>
              </ActionForm>
            )}
            <ActionForm label={`Retire ${id}`} request={onMember(name, { action: "retire", id })}>
              <p>The server does not lease {id} again. Its rewards stay in the log.</p>
            </ActionForm>
          </>
        )}
        <AddForm population={population} from={node} />
      </div>
    </Card>
  )
}

/** Adds an edited copy of an instruction as a new member. */
const AddForm = ({ from, population }: { readonly population: Population.Population; readonly from: Node }) => {
  const [texts, setTexts] = useState(() => Text.textsOf(from.wording))
  const only = texts.find(([name]) => name === null)?.[1]
  const wording = only ?? Object.fromEntries(texts.map(([name, text]) => [name ?? "", text]))
  const isUnchanged = JSON.stringify(wording) === JSON.stringify(from.wording)
  return (
    <ActionForm
      label="Edit as a new member"
      submit="Add as a new member"
      disabled={isUnchanged}
      request={onMember(population.name, { action: "add", wording, parent: from.id })}
    >
      {texts.map(([name, text], index) => (
        <Field key={name ?? ""} name={name ?? `Text, initially that of ${from.id}`}>
          <textarea
            dir="auto"
            rows={6}
            required
            value={text}
            onChange={({ target }) =>
              setTexts(texts.map((one, place) => (place === index ? ([name, target.value] as const) : one)))
            }
          />
        </Field>
      ))}
      {!isUnchanged && <Wording from={from.wording} to={wording} />}
    </ActionForm>
  )
}
