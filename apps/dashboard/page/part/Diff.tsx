import { useMemo } from "react"
import { wordDiff } from "../../src/WordDiff.ts"

/** A text with what it added to another one and what it dropped, word by word. */
export const Diff = ({ from, to }: { readonly from: string; readonly to: string }) => {
  const pieces = useMemo(() => wordDiff(from, to), [from, to])
  return (
    <p className="prose" dir="auto">
      {pieces.map(({ kind, text }, index) => {
        // Space around a change is not marked.
        const [, before = "", inner = "", after = ""] = /^(\s*)(.*?)(\s*)$/su.exec(text) ?? []
        return (
          <span key={index}>
            {before}
            {kind === "added" ? <ins>{inner}</ins> : kind === "removed" ? <del>{inner}</del> : inner}
            {after}
          </span>
        )
      })}
    </p>
  )
}
