import { PlainText } from "@inspo/domain"
import { useEffect, useRef, useState } from "react"
import { type AnnotationView, longestNote, problemOf, tagsIn } from "../../src/view/Annotation.ts"
import { ask } from "../source/RunClient.ts"
import { href } from "../Route.ts"
import { Problem } from "./Parts.tsx"
import { Button, Field, Form } from "./Form.tsx"

/** The tags and the note of a run, and a form to edit them. */
export const Annotation = ({ annotation, run }: { readonly run: string; readonly annotation: AnnotationView }) => {
  const [isEditing, setEditing] = useState(false)
  /** What was saved, until the page has it from the server: while that still has the version `from`. */
  const [saved, setSaved] = useState<{ readonly from: string | null; readonly now: AnnotationView } | null>(null)
  const opener = useRef<HTMLButtonElement>(null)
  const wasEditing = useRef(false)
  useEffect(() => {
    if (wasEditing.current && !isEditing) opener.current?.focus()
    wasEditing.current = isEditing
  }, [isEditing])

  const shown = saved?.from === annotation.version ? saved.now : annotation
  const { note, problem, tags } = shown
  if (problem !== null) return <Problem>{problem}</Problem>
  if (isEditing)
    return (
      <Editor
        run={run}
        edited={shown}
        onSaved={(now) => {
          setSaved({ from: annotation.version, now })
          setEditing(false)
        }}
        onCancel={() => setEditing(false)}
      />
    )
  return (
    <section className="row tight" aria-label="Tags and note">
      {tags.map((tag) => (
        <a
          key={tag}
          className="tag"
          dir="auto"
          title="All runs with this tag"
          href={href(null, "overview", filterOf(tag))}
        >
          {tag}
        </a>
      ))}
      <Button className="link" ref={opener} onClick={() => setEditing(true)}>
        {tags.length === 0 && note === "" ? "Add tags or a note" : "Edit tags and note"}
      </Button>
      {note !== "" && (
        <p className="note" dir="auto">
          {PlainText.escape(note)}
        </p>
      )}
    </section>
  )
}

/** The filter of the list that shows the runs with a tag. */
export const filterOf = (tag: string) => ({ filter: `tag=${tag}` })

interface EditorProps {
  readonly run: string
  readonly edited: AnnotationView
  readonly onSaved: (now: AnnotationView) => void
  readonly onCancel: () => void
}

const Editor = ({ edited, onCancel, onSaved, run }: EditorProps) => {
  // What the form started with: a later version of another page is not overwritten.
  const [{ version }] = useState(edited)
  const [tags, setTags] = useState(edited.tags.join(" "))
  const [note, setNote] = useState(edited.note)
  const [problem, setProblem] = useState<string | null>(null)
  const [isBusy, setBusy] = useState(false)
  const first = useRef<HTMLInputElement>(null)
  useEffect(() => first.current?.focus(), [])

  const save = async () => {
    const payload = { tags: tagsIn(tags), note, version }
    const found = problemOf(payload)
    setProblem(found)
    if (found !== null) return
    setBusy(true)
    try {
      onSaved(await ask((client) => client.annotate({ params: { run }, payload })))
    } catch (error) {
      setProblem(error instanceof Error ? error.message : String(error))
      setBusy(false)
    }
  }
  return (
    <Form
      className="annotation-form"
      label="Tags and note"
      submit="Save"
      disabled={isBusy}
      onSubmit={() => void save()}
      onCancel={onCancel}
      problem={problem}
    >
      <Field name="Tags, separated by spaces">
        <input ref={first} dir="auto" value={tags} onChange={({ currentTarget }) => setTags(currentTarget.value)} />
      </Field>
      <Field name="Note">
        <textarea
          dir="auto"
          rows={3}
          maxLength={longestNote}
          value={note}
          onChange={({ currentTarget }) => setNote(currentTarget.value)}
        />
      </Field>
    </Form>
  )
}
