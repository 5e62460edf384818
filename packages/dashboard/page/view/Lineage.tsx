import { useMemo, useState } from "react"
import { comparedWithParent, distinction, inTreeOrder, ofTraining, percent, plural } from "@inspo/report"
import type { EvolutionView, LineageView, NodeView } from "../../src/view/LineageView.ts"
import type { RunView } from "../../src/view/RunView.ts"
import { LineageChart } from "../chart/LineageChart.tsx"
import { makeQuery } from "../source/RunClient.ts"
import { versionOf } from "../source/LiveRuns.ts"
import { Names, useLabels } from "../part/Names.tsx"
import { Bar, Card, Empty, Expander, Facts, FateBadge, InstructionName, Pending, withMuted } from "../part/Parts.tsx"
import { TrajectoryDetail } from "../part/TrajectoryDetail.tsx"
import { Tree } from "../part/Tree.tsx"
import { WordingChoice } from "../part/Wording.tsx"
import { href, type Route } from "../Route.ts"
import { go, withQuery } from "../Routing.ts"
import { Check } from "../part/Form.tsx"

const useLineage = makeQuery((client, run: string) => client.lineage({ params: { run } }))

interface LineageProps {
  readonly run: RunView
  readonly route: Route
}

/** The parent of every instruction, and why each was proposed. */
export const Lineage = ({ route, run }: LineageProps) => {
  const { data, problem } = useLineage(run.id, versionOf(run))
  const [withRejected, setWithRejected] = useState(false)
  const shown = useMemo(
    () => inTreeOrder(data?.nodes.filter(({ id }) => withRejected || id !== null) ?? []),
    [data, withRejected]
  )
  const wanted = route.query.get("instruction") ?? data?.best ?? "i0"
  const selected = data?.nodes.find(({ key }) => key === wanted) ?? data?.nodes[0]
  const select = (key: string, how?: "replace") => go(withQuery(route, { instruction: key }), how)

  if (data === null) return <Pending problem={problem} />
  if (selected === undefined)
    return (
      <Empty isPage title="No instructions yet">
        They appear after the first population is written.
      </Empty>
    )
  const rejected = data.nodes.filter(({ id }) => id === null).length
  return (
    <Names value={data.names}>
      <h1 className="hidden">Lineage of {run.name}</h1>
      <Card title="Lineage">
        <LineageChart lineage={data} steps={run.steps ?? run.step} selected={selected.key} onSelect={select} />
      </Card>
      <div className="split">
        <Tree
          title={plural(data.nodes.length - rejected, "instruction")}
          nodes={shown}
          selected={selected.key}
          onSelect={select}
          actions={
            <Check checked={withRejected} onChange={(checked) => setWithRejected(checked)}>
              with {rejected} rejected
            </Check>
          }
        >
          {(node) => <TreeLine node={node} lineage={data} />}
        </Tree>
        <Node key={selected.key} lineage={data} node={selected} run={run} onSelect={select} />
      </div>
    </Names>
  )
}

const parentOf = ({ nodes }: LineageView, { parent }: NodeView): NodeView | undefined =>
  nodes.find(({ id }) => id !== null && id === parent)

const TreeLine = ({ lineage, node }: { readonly node: NodeView; readonly lineage: LineageView }) => (
  <>
    {node.id === null ? <span className="muted">candidate</span> : <InstructionName id={node.id} />}
    {node.id !== null && node.id === lineage.best && <span className="badge best">best</span>}
    <FateBadge fate={node.fate} />
    <span className="tree-note muted small num">{noteOf(node)}</span>
    {node.id === null && (
      <span className="tree-text muted small" dir="auto">
        {distinction(parentOf(lineage, node)?.text ?? null, node.text, 80)}
      </span>
    )}
  </>
)

const noteOf = ({ step, verification }: NodeView): string => {
  if (verification === null) return step === 0 ? "from the start" : ""
  const { mean, parentMean } = verification
  return `verified ${percent(mean, 0)}${parentMean === null ? "" : ` vs ${percent(parentMean, 0)}`}`
}

interface NodeProps {
  readonly lineage: LineageView
  readonly node: NodeView
  readonly run: RunView
  readonly onSelect: (key: string) => void
}

const Node = ({ lineage, node, onSelect, run }: NodeProps) => {
  const parent = parentOf(lineage, node)
  const evolution = node.evolution === null ? undefined : lineage.evolutions[node.evolution]
  return (
    <div className="stack">
      <Card
        title={
          <>
            {node.id === null ? "Candidate" : <InstructionName id={node.id} />} <FateBadge fate={node.fate} />
          </>
        }
        actions={
          node.id === null ? undefined : (
            <a href={href(run.id, "trajectories", { instruction: node.id })}>Its trajectories</a>
          )
        }
      >
        <NodeFacts lineage={lineage} node={node} parent={parent} onSelect={onSelect} />
        <WordingChoice
          wording={node.text}
          parent={parent && { id: parent.id, wording: parent.text }}
          rationale={node.rationale}
        />
      </Card>
      {node.verification !== null && <VerificationCard run={run} node={node} evolution={evolution} />}
      {evolution !== undefined && <EvolutionCard run={run} evolution={evolution} />}
    </div>
  )
}

interface FactsProps {
  readonly lineage: LineageView
  readonly node: NodeView
  readonly parent: NodeView | undefined
  readonly onSelect: (key: string) => void
}

const NodeFacts = ({ lineage, node, onSelect, parent }: FactsProps) => {
  const children =
    node.id === null ? [] : lineage.nodes.filter((other) => other.id !== null && other.parent === node.id)
  const links = (nodes: ReadonlyArray<NodeView>) =>
    nodes.map(({ id, key }) => (
      <button key={key} type="button" className="link" onClick={() => onSelect(key)}>
        <InstructionName id={id ?? ""} />
      </button>
    ))
  return (
    <Facts
      of={[
        ["Proposed", node.step === 0 ? "at the start" : `after step ${node.step}`],
        node.generation !== null && ["Generation", node.generation],
        parent !== undefined && ["Parent", links([parent])],
        children.length > 0 && ["Children", links(children)],
        node.groups > 0 && [
          "Mean training reward",
          withMuted(percent(node.mean), `over ${plural(node.groups, "group")}`)
        ],
        node.difference !== null && ["Compared with its parent", ofTraining(node.difference)],
        node.value !== null && ["Last value", percent(node.value)],
        node.leftAt !== null && ["Removed", `after step ${node.leftAt}`],
        node.reason !== null && ["Decision", node.reason]
      ]}
    />
  )
}

interface VerificationCardProps {
  readonly run: RunView
  readonly node: NodeView
  readonly evolution: EvolutionView | undefined
}

const VerificationCard = ({ evolution, node, run }: VerificationCardProps) => {
  const label = useLabels()
  const { trial, verification } = node
  if (verification === null) return null
  const { mean, parentMean, questions } = verification
  const nameOf = (id: string | null, other: string) => (id === null ? other : label(id))
  return (
    <Card
      title="Verification"
      actions={
        trial === null ? undefined : <a href={href(run.id, "trajectories", { instruction: trial })}>Its rollouts</a>
      }
    >
      <div className="bars">
        <LabelledBar label={nameOf(node.id, "candidate")} value={mean} tone="accent" />
        {parentMean !== null && <LabelledBar label={nameOf(node.parent, "parent")} value={parentMean} tone="plain" />}
      </div>
      <p className="muted small">
        {plural(questions, "question")}
        {` · ${comparedWithParent(verification)}`}
        {evolution === undefined || evolution.rollouts === null
          ? ""
          : ` · round ${evolution.round} used ${plural(evolution.rollouts, "rollout")} for ${plural(evolution.candidates, "candidate")}`}
        {evolution === undefined || evolution.rejected === 0
          ? ""
          : `, ${evolution.rejected} more ${evolution.rejected === 1 ? "was" : "were"} malformed`}
      </p>
    </Card>
  )
}

interface LabelledBarProps {
  readonly label: string
  readonly value: number
  readonly tone: string
}

const LabelledBar = ({ label, tone, value }: LabelledBarProps) => (
  <div className="bar">
    <span className="bar-label">{label}</span>
    <Bar share={value} tone={tone} />
    <b className="num">{percent(value)}</b>
  </div>
)

/** The failures that the proposer received, and its critique. */
const EvolutionCard = ({ evolution, run }: { readonly evolution: EvolutionView; readonly run: RunView }) => (
  <Card title={`Proposed from ${plural(evolution.failures.length, "failure")} of ${useLabels()(evolution.parent)}`}>
    {evolution.critique !== "" && (
      <blockquote dir="auto">
        <span className="muted small">The proposer's critique</span>
        {evolution.critique}
      </blockquote>
    )}
    <div className="failures">
      {evolution.failures.map((id) => (
        <Expander key={id} className="" summary={`Failure ${id}`}>
          <TrajectoryDetail run={run} id={id} />
        </Expander>
      ))}
    </div>
  </Card>
)
