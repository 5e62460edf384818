/** What an admin does. */
import type { MemberAction } from "@inspo/serve/wire/Member"
import type { Effect } from "effect"
import { useState } from "react"
import { Problem } from "../part/Parts.tsx"
import { ask, type Client } from "./Client.ts"
import { lookAgain } from "./News.ts"

export interface Acting {
  readonly busy: boolean
  /** Why it was not done. */
  readonly problem: string | null
  readonly act: <A, E>(question: (client: Client) => Effect.Effect<A, E>, then?: () => void) => void
}

/** One thing at a time; what is shown is asked for again once it is done. */
export const useActing = (): Acting => {
  const [state, setState] = useState<Pick<Acting, "busy" | "problem">>({ busy: false, problem: null })
  const attempt = async (question: () => Promise<unknown>, then?: () => void) => {
    setState({ busy: true, problem: null })
    try {
      await question()
    } catch (error) {
      setState({ busy: false, problem: error instanceof Error ? error.message : String(error) })
      return
    }
    setState({ busy: false, problem: null })
    lookAgain()
    then?.()
  }
  return { ...state, act: (question, then) => void attempt(() => ask(question), then) }
}

/** Does something with a member of a population. */
export const onMember = (name: string, payload: MemberAction) => (client: Client) =>
  client.populations.member({ params: { name }, payload })

/** A button that says what it brings and asks once more before it acts. */
export const Asking = ({
  act,
  label,
  question
}: {
  readonly label: string
  readonly question: string
  readonly act: (acting: Acting, then: () => void) => void
}) => {
  const [opened, setOpened] = useState(false)
  const acting = useActing()
  const close = () => setOpened(false)
  if (!opened)
    return (
      <button type="button" className="button" onClick={() => setOpened(true)}>
        {label}
      </button>
    )
  return (
    <form
      className="form asking"
      aria-label={label}
      onSubmit={(event) => {
        event.preventDefault()
        act(acting, close)
      }}
    >
      <p>{question}</p>
      <p className="buttons">
        <button type="submit" className="button primary" disabled={acting.busy}>
          {label}
        </button>
        <button type="button" className="button" onClick={close}>
          Leave it
        </button>
      </p>
      {acting.problem !== null && <Problem>{acting.problem}</Problem>}
    </form>
  )
}
