import type { Grammar } from "../ActionParser.ts"
import type { Conversation, Draft } from "../Agent.ts"
import type { Program } from "../Episode.ts"
import type { Recorder } from "../Transcription.ts"

/** Writes a draft by the name of its draw; `size` is that of its prompt and itself, in tokens. */
export type Drafting = (grammar: Grammar, name: string) => Program<Draft & { readonly size: number }>

/** How a conversation gets its turns. Drafts count as asides until they are taken. */
export const turns = (recorder: Recorder, draft: Drafting): Pick<Conversation, "drafts" | "turn"> => ({
  *turn(grammar) {
    const { action, take } = yield* draft(grammar, `${recorder.transcript.length}`)
    take()
    return action
  },
  *drafts(count, grammar) {
    const drafts: Array<Draft> = []
    while (drafts.length < count) {
      const { action, size, take, text } = yield* draft(grammar, `${recorder.transcript.length}/draft-${drafts.length}`)
      recorder.asideTokens += size
      drafts.push({
        text,
        action,
        take: () => {
          recorder.asideTokens -= size
          take()
        }
      })
    }
    return drafts
  }
})
