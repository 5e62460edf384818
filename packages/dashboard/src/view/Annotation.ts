import { PlainText } from "@inspo/domain"
import { Schema } from "effect"

export const mostTags = 20
export const longestTag = 40
export const longestNote = 4000

const Fields = Schema.Struct({ tags: Schema.Array(Schema.String), note: Schema.String })

/** Tags and a note within their bounds. */
export const Annotation = Fields.check(Schema.makeFilter((annotation) => problemOf(annotation) ?? true))
export interface Annotation extends Schema.Schema.Type<typeof Annotation> {}

/** What to save. `version` is that of the annotation that was edited, null if there was none. */
export const AnnotationEdit = Schema.Struct({ ...Fields.fields, version: Schema.NullOr(Schema.String) })
export interface AnnotationEdit extends Schema.Schema.Type<typeof AnnotationEdit> {}

/** The stored annotation. `version` changes with each write and is null without one; `problem` is why it cannot be read. */
export const AnnotationView = Schema.Struct({ ...AnnotationEdit.fields, problem: Schema.NullOr(Schema.String) })
export interface AnnotationView extends Schema.Schema.Type<typeof AnnotationView> {}

/** A run without an annotation. */
export const none: AnnotationView = { tags: [], note: "", version: null, problem: null }

/** The first of the bounds that an annotation exceeds, and how to fix it; null if there is none. */
export const problemOf = ({ note, tags }: Annotation): string | null => {
  if (tags.length > mostTags) return `There are ${tags.length} tags, expected at most ${mostTags}. Remove some.`
  for (const [place, tag] of tags.entries()) {
    if (!isTag(tag))
      return (
        `The tag ${PlainText.json(PlainText.escape(tag), longestTag + 2)} is not valid, expected 1 to ${longestTag} visible ` +
        "characters without spaces and commas. Change it."
      )
    if (tags.indexOf(tag) < place) return `The tag "${tag}" occurs twice, expected different tags. Remove one.`
  }
  return note.length > longestNote
    ? `The note has ${note.length} characters, expected at most ${longestNote}. Shorten it.`
    : null
}

const isTag = (tag: string): boolean =>
  tag.length <= longestTag && /^[\p{L}\p{M}\p{N}\p{P}\p{S}]+$/u.test(tag) && !tag.includes(",")

/** The tags in a text that a user typed, separated by spaces or commas, each once. */
export const tagsIn = (text: string): ReadonlyArray<string> => [...new Set(text.split(/[\s,]+/u).filter(Boolean))]
