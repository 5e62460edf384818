/** Actions of an admin. */
import type { Member } from "@inspo/serve"
import type { Effect } from "effect"
import { type ReactNode, useState } from "react"
import { ask, type Client } from "../source/PopulationClient.ts"
import { reload } from "../source/Polling.ts"
import { Button, Form } from "./Form.tsx"

export interface Action {
  readonly busy: boolean
  /** Why the last request failed. */
  readonly problem: string | null
  readonly act: <A, E>(request: (client: Client) => Effect.Effect<A, E>, then?: () => void) => void
}

/** Sends one request at a time, and reloads the page's data after it. */
export const useAction = (): Action => {
  const [state, setState] = useState<Pick<Action, "busy" | "problem">>({ busy: false, problem: null })
  const attempt = async (request: () => Promise<unknown>, then?: () => void) => {
    setState({ busy: true, problem: null })
    try {
      await request()
    } catch (error) {
      setState({ busy: false, problem: error instanceof Error ? error.message : String(error) })
      return
    }
    setState({ busy: false, problem: null })
    reload()
    then?.()
  }
  return { ...state, act: (request, then) => void attempt(() => ask(request), then) }
}

/** The request for an action on a member of a population. */
export const onMember = (name: string, payload: Member.MemberAction) => (client: Client) =>
  client.populations.member({ params: { name }, payload })

interface ActionFormProps {
  readonly label: string
  /** The label of the second button. */
  readonly submit?: string
  readonly disabled?: boolean
  readonly request: (client: Client) => Effect.Effect<unknown, unknown>
  readonly children: ReactNode
}

/** A button that opens a form with its effect and a second button, which acts. */
export const ActionForm = ({ children, disabled = false, label, request, submit = label }: ActionFormProps) => {
  const [opened, setOpened] = useState(false)
  const { act, busy, problem } = useAction()
  const close = () => setOpened(false)
  if (!opened) return <Button onClick={() => setOpened(true)}>{label}</Button>
  return (
    <Form
      className="asking"
      label={label}
      submit={submit}
      disabled={busy || disabled}
      onSubmit={() => act(request, close)}
      onCancel={close}
      problem={problem}
    >
      {children}
    </Form>
  )
}
