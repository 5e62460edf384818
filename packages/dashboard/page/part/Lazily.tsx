import { type ComponentType, useEffect } from "react"
import { makeStore } from "../Store.ts"
import { Loading, Problem } from "./Parts.tsx"
import { Button } from "./Form.tsx"

/** A view whose code is loaded when it is first shown. A failure is shown with a button that loads it again. */
export const lazily = <Props extends object>(load: () => Promise<ComponentType<Props>>): ComponentType<Props> => {
  const state = makeStore<State<Props>>(loading)
  const request = () => {
    state.set(loading)
    void load().then(
      (View) => state.set({ View, hasFailed: false }),
      () => state.set({ View: null, hasFailed: true })
    )
  }
  return (props) => {
    const { View, hasFailed } = state.use()
    useEffect(() => {
      if (state.get().View === null) request()
    }, [])
    if (View !== null) return <View {...props} />
    if (!hasFailed) return <Loading />
    return (
      <>
        <h1 className="hidden">View not loaded</h1>
        <Problem>This view could not be loaded. If this happens again, reload the page.</Problem>
        <Button onClick={request}>Try again</Button>
      </>
    )
  }
}

interface State<Props> {
  readonly View: ComponentType<Props> | null
  readonly hasFailed: boolean
}

const loading = { View: null, hasFailed: false }
