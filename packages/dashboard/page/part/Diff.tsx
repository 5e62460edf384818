import { useMemo } from "react"
import { wordDiff } from "@inspo/report"

/** The added and removed words of a text, compared with another one. */
export const Diff = ({ from, to }: { readonly from: string; readonly to: string }) => {
  const pieces = useMemo(() => wordDiff(from, to), [from, to])
  return (
    <p className="prose" dir="auto">
      {pieces.map(({ kind, text }, index) => {
        // White space around a change is not marked.
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
