import { useMemo, useState } from "react"
import type { EvolutionView, LineageView, NodeView } from "../../src/view/LineageView.ts"
import type { RunView } from "../../src/view/RunView.ts"
import { percent, plural, points } from "../../src/Format.ts"
import { distinction } from "../../src/WordDiff.ts"
import { versionOf } from "../Live.ts"
import { Descent } from "../chart/Descent.tsx"
import { Diff } from "../part/Diff.tsx"
import {
  Card,
  Empty,
  Fact,
  FateBadge,
  InstructionName,
  Loading,
  Problem,
  Rationale,
  TextChoice
} from "../part/Parts.tsx"
import { TrajectoryDetail } from "../part/TrajectoryDetail.tsx"
import { useKeys } from "../part/useKeys.ts"
import { useScrollInto } from "../part/useScrollInto.ts"
import { go, href, type Route, withQuery } from "../Route.ts"
import { makeView } from "../View.ts"

const useLineage = makeView((client, run: string) => client.lineage({ params: { run } }))

/** Where every instruction came from, and why. */
export const Lineage = ({ route, run }: { readonly run: RunView; readonly route: Route }) => {
  const { data, problem } = useLineage(run.id, versionOf(run))
  const [withRejected, setWithRejected] = useState(false)
  const shown = useMemo(
    () => (data === null ? [] : ordered(data.nodes.filter(({ id }) => withRejected || id !== null))),
    [data, withRejected]
  )
  const wanted = route.query.get("instruction") ?? data?.best ?? "i0"
  const selected = data?.nodes.find(({ key }) => key === wanted) ?? data?.nodes[0]
  const select = (key: string, how?: "replace") => go(withQuery(route, { instruction: key }), how)
  const move = (by: number) => {
    const at = shown.findIndex(({ node }) => node.key === selected?.key)
    const next = shown[Math.min(shown.length - 1, Math.max(0, at + by))]
    if (next !== undefined) select(next.node.key, "replace")
  }
  useKeys({ j: () => move(1), k: () => move(-1) })

  if (data === null) return problem === null ? <Loading /> : <Problem>{problem}</Problem>
  if (selected === undefined)
    return <Empty title="No instructions yet">The tree begins with the first population.</Empty>
  return (
    <>
      <h1 className="hidden">Lineage of {run.name}</h1>
      <Card title="Descent">
        <Descent lineage={data} steps={run.steps ?? run.step} selected={selected.key} onSelect={select} />
      </Card>
      <div className="split">
        <Card
          title={`${data.nodes.filter(({ id }) => id !== null).length} instructions`}
          className="tree-card scroll-list"
          actions={
            <label className="check">
              <input
                type="checkbox"
                checked={withRejected}
                onChange={({ target }) => setWithRejected(target.checked)}
              />
              with {data.nodes.filter(({ id }) => id === null).length} rejected
            </label>
          }
        >
          <ul className="tree">
            {shown.map(({ depth, node }) => (
              <li key={node.key} style={{ paddingInlineStart: `${depth * 1.1}rem` }}>
                <TreeButton
                  node={node}
                  parent={data.nodes.find(({ id }) => id !== null && id === node.parent)?.text ?? null}
                  isBest={node.id !== null && node.id === data.best}
                  isSelected={node.key === selected.key}
                  onSelect={select}
                />
              </li>
            ))}
          </ul>
        </Card>
        <Node key={selected.key} lineage={data} node={selected} run={run} onSelect={select} />
      </div>
    </>
  )
}

const TreeButton = ({
  isBest,
  isSelected,
  node,
  onSelect,
  parent
}: {
  readonly node: NodeView
  /** The text of its parent. */
  readonly parent: string | null
  readonly isBest: boolean
  readonly isSelected: boolean
  readonly onSelect: (key: string) => void
}) => {
  const button = useScrollInto<HTMLButtonElement>(isSelected)
  const { verification } = node
  return (
    <button
      ref={button}
      type="button"
      className={`tree-node ${isSelected ? "selected" : ""} ${node.id === null ? "candidate" : ""}`}
      aria-pressed={isSelected}
      onClick={() => onSelect(node.key)}
    >
      {node.id === null ? <span className="muted">candidate</span> : <InstructionName id={node.id} />}
      {isBest && <span className="badge best">best</span>}
      <FateBadge fate={node.fate} />
      <span className="tree-note">
        {verification !== null
          ? `verified ${percent(verification.mean, 0)}${verification.parentMean === null ? "" : ` vs ${percent(verification.parentMean, 0)}`}`
          : node.step === 0
            ? "from the start"
            : ""}
      </span>
      <span className="tree-text muted" dir="auto">
        {distinction(parent, node.text, 80)}
      </span>
    </button>
  )
}

const Node = ({
  lineage,
  node,
  onSelect,
  run
}: {
  readonly lineage: LineageView
  readonly node: NodeView
  readonly run: RunView
  readonly onSelect: (key: string) => void
}) => {
  const parent = lineage.nodes.find(({ id }) => id !== null && id === node.parent)
  const evolution = node.evolution === null ? undefined : lineage.evolutions[node.evolution]
  const [whole, setWhole] = useState(false)
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
        <Facts lineage={lineage} node={node} parent={parent} onSelect={onSelect} />
        {parent === undefined ? (
          <p className="prose" dir="auto">
            {node.text}
          </p>
        ) : (
          <>
            <TextChoice parent={parent.id} whole={whole} onChoose={setWhole} />
            {whole ? (
              <p className="prose" dir="auto">
                {node.text}
              </p>
            ) : (
              <Diff from={parent.text} to={node.text} />
            )}
          </>
        )}
        <Rationale text={node.rationale} />
      </Card>
      {node.verification !== null && <VerificationCard run={run} node={node} evolution={evolution} />}
      {evolution !== undefined && <Cause run={run} evolution={evolution} />}
    </div>
  )
}

const Facts = ({
  lineage,
  node,
  onSelect,
  parent
}: {
  readonly lineage: LineageView
  readonly node: NodeView
  readonly parent: NodeView | undefined
  readonly onSelect: (key: string) => void
}) => {
  const children =
    node.id === null ? [] : lineage.nodes.filter((other) => other.id !== null && other.parent === node.id)
  return (
    <dl className="facts">
      <Fact name={node.step === 0 ? "Born" : "Proposed"}>
        {node.step === 0 ? "with the run" : `after step ${node.step}`}
      </Fact>
      {node.generation !== null && <Fact name="Generation">{node.generation}</Fact>}
      {parent !== undefined && (
        <Fact name="Parent">
          <button type="button" className="link" onClick={() => onSelect(parent.key)}>
            <InstructionName id={parent.id ?? ""} />
          </button>
        </Fact>
      )}
      {children.length > 0 && (
        <Fact name="Children">
          {children.map((child) => (
            <button key={child.key} type="button" className="link" onClick={() => onSelect(child.key)}>
              <InstructionName id={child.id ?? ""} />
            </button>
          ))}
        </Fact>
      )}
      {node.groups > 0 && (
        <Fact name="Mean training reward">
          {percent(node.mean)} <span className="muted">over {node.groups} groups</span>
        </Fact>
      )}
      {node.value !== null && <Fact name="Last value">{percent(node.value)}</Fact>}
      {node.leftAt !== null && <Fact name="Left">after step {node.leftAt}</Fact>}
      {node.reason !== null && <Fact name="Why">{node.reason}</Fact>}
    </dl>
  )
}

const VerificationCard = ({
  evolution,
  node,
  run
}: {
  readonly run: RunView
  readonly node: NodeView
  readonly evolution: EvolutionView | undefined
}) => {
  const { trial, verification } = node
  if (verification === null) return null
  const { mean, parentMean, questions } = verification
  return (
    <Card
      title="Verification"
      actions={
        trial === null ? undefined : <a href={href(run.id, "trajectories", { instruction: trial })}>Its rollouts</a>
      }
    >
      <div className="bars">
        <Bar label={node.id ?? "candidate"} value={mean} tone="accent" />
        {parentMean !== null && (
          <Bar label={`${node.parent ?? "parent"}, same questions`} value={parentMean} tone="plain" />
        )}
      </div>
      <p className="muted small">
        {questions} questions
        {parentMean === null ? "" : ` · ${points(mean - parentMean)} points on the parent`}
        {evolution === undefined || evolution.rollouts === null
          ? ""
          : ` · round ${evolution.round} spent ${evolution.rollouts} rollouts on ${evolution.candidates} candidates`}
        {evolution === undefined || evolution.rejected === 0 ? "" : `, ${evolution.rejected} more were malformed`}
      </p>
    </Card>
  )
}

const Bar = ({ label, tone, value }: { readonly label: string; readonly value: number; readonly tone: string }) => (
  <div className="bar">
    <span className="bar-label">{label}</span>
    <span className="bar-track">
      <i className={`bar-fill ${tone}`} style={{ width: `${100 * value}%` }} />
    </span>
    <b className="num">{percent(value)}</b>
  </div>
)

/** What the proposer was shown and what it made of it. */
const Cause = ({ evolution, run }: { readonly evolution: EvolutionView; readonly run: RunView }) => (
  <Card title={`What led to it: ${plural(evolution.failures.length, "failure")} of ${evolution.parent}`}>
    {evolution.critique !== "" && (
      <blockquote dir="auto">
        <span className="muted small">The proposer's critique</span>
        {evolution.critique}
      </blockquote>
    )}
    <div className="failures">
      {evolution.failures.map((id) => (
        <FailureItem key={id} run={run} id={id} />
      ))}
    </div>
  </Card>
)

const FailureItem = ({ id, run }: { readonly run: RunView; readonly id: string }) => {
  const [opened, setOpened] = useState(false)
  return (
    <details onToggle={({ currentTarget }) => currentTarget.open && setOpened(true)}>
      <summary>Failure {id}</summary>
      {opened && <TrajectoryDetail run={run} id={id} />}
    </details>
  )
}

/** The tree in reading order: each node before its children, with how deep it hangs. */
const ordered = (
  nodes: ReadonlyArray<NodeView>
): ReadonlyArray<{ readonly node: NodeView; readonly depth: number }> => {
  const known = new Set<string | null>(nodes.flatMap(({ id }) => (id === null ? [] : [id])))
  const byParent = Map.groupBy<string | null, NodeView>(nodes, ({ parent }) => (known.has(parent) ? parent : null))
  const list: Array<{ node: NodeView; depth: number }> = []
  const visit = (parent: string | null, depth: number) => {
    for (const node of byParent.get(parent) ?? []) {
      list.push({ node, depth })
      if (node.id !== null && depth < nodes.length) visit(node.id, depth + 1)
    }
  }
  visit(null, 0)
  return list
}
