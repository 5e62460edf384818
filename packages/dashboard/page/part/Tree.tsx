import type { ReactNode } from "react"
import { Card } from "./Parts.tsx"
import { useKeys } from "./useKeys.ts"
import { useScrollInto } from "./useScrollInto.ts"

/** Instructions in an indented list, each below its parent, of which one is selected. */
export const Tree = <Node extends { readonly key: string; readonly depth: number }>({
  actions,
  children,
  nodes,
  onSelect,
  selected,
  title
}: {
  readonly title: string
  readonly actions?: ReactNode
  readonly nodes: ReadonlyArray<Node>
  readonly selected: string
  readonly onSelect: (key: string, how?: "replace") => void
  readonly children: (node: Node) => ReactNode
}) => {
  const move = (by: number) => {
    const at = nodes.findIndex(({ key }) => key === selected)
    const next = nodes[Math.min(nodes.length - 1, Math.max(0, at + by))]
    if (next !== undefined) onSelect(next.key, "replace")
  }
  useKeys({ j: () => move(1), k: () => move(-1) })
  return (
    <Card title={title} className="tree-card scroll-list" actions={actions}>
      <ul className="tree">
        {nodes.map((node) => (
          <li key={node.key} style={{ paddingInlineStart: `${node.depth * 1.1}rem` }}>
            <TreeButton isSelected={node.key === selected} onSelect={() => onSelect(node.key)}>
              {children(node)}
            </TreeButton>
          </li>
        ))}
      </ul>
    </Card>
  )
}

interface TreeButtonProps {
  readonly isSelected: boolean
  readonly onSelect: () => void
  readonly children: ReactNode
}

const TreeButton = ({ children, isSelected, onSelect }: TreeButtonProps) => (
  <button
    ref={useScrollInto<HTMLButtonElement>(isSelected)}
    type="button"
    className={`tree-node ${isSelected ? "selected" : ""}`}
    aria-pressed={isSelected}
    onClick={onSelect}
  >
    {children}
  </button>
)
