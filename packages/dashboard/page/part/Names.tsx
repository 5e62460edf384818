import { createContext, useContext, useMemo } from "react"
import { labels } from "@inspo/report"
import type { Names as NamesView } from "../../src/view/OverviewView.ts"

/** The names of the instructions that the content shows. */
export const Names = createContext<NamesView>({})

/** The name of an instruction; undefined where there are no names. */
export const useName = (id: string): string | undefined => useContext(Names)[id]

/** Writes instructions with their names, for tooltips and sentences. */
export const useLabels = (): ((id: string) => string) => {
  const names = useContext(Names)
  return useMemo(() => labels(new Map(Object.entries(names))), [names])
}
