import { assert, describe, it } from "@effect/vitest"
import { Effect, Schema } from "effect"
import { type Learner, Learners, type Notebook, ProposerModel } from "../src/index.ts"

const standard = "Find the causes."
const parent = { text: "Answer." }

/** What a learner did in each of some proposals whose candidates gained `gainsOf` their method. */
const play = (
  learner: Learner,
  proposals: number,
  gainsOf: (method: string, proposal: number) => ReadonlyArray<number>,
  answerOf: (proposal: number) => string
) => {
  let notebook: Notebook | undefined
  return Array.from({ length: proposals }, (_, proposal) => {
    const { question, read } = learner.learn({ parent, ...(notebook === undefined ? {} : { notebook }) }, standard)
    const { method, notes } = read(question === null ? null : answerOf(proposal))
    notebook = {
      // As a journal keeps it.
      notes: Schema.decodeUnknownSync(Schema.Json)(JSON.parse(JSON.stringify(notes))),
      outcomes: gainsOf(method, proposal).map((gain, index) => ({ text: `${method} ${proposal}.${index}`, gain }))
    }
    return { question, method, notes: notebook.notes, gains: notebook.outcomes.map(({ gain }) => gain) }
  })
}

const named = (name: string, constants: object = {}): Learner =>
  Learners.fromConfig({ name, ...constants }) ?? assert.fail(`no learner is called ${name}`)

const Gain = Schema.Literals([-0.5, -0.1, 0, 0.1, 0.5])
const Gains = Schema.Array(Schema.Array(Gain).check(Schema.isMaxLength(3))).check(
  Schema.isMinLength(24),
  Schema.isMaxLength(24)
)

describe("every learner", () => {
  it.each(ProposerModel.kinds.flatMap((kind) => ("of" in kind ? [kind.name] : [])))(
    "begins with the standard method, and with notes of another form begins anew: %s",
    (name) => {
      for (const notes of [null, 7, "notes", { lessons: 1 }, { incumbent: {} }]) {
        const { question, read } = named(name).learn(
          { parent, notebook: { notes, outcomes: [{ text: "Be brief.", gain: 0.5 }] } },
          standard
        )
        assert.strictEqual(read(question === null ? null : "no answer").method, standard)
      }
      assert.isNull(named(name).learn({ parent }, standard).question)
    }
  )
})

describe("the proposer whose method evolves", () => {
  const method = (number: number) => `Look closely, way ${number}.`
  const answerOf = (proposal: number) => `<ins_1>${method(proposal)}</ins_1>`
  const best = (gains: ReadonlyArray<number>) => Math.max(0, ...gains)

  it.prop("keeps its first method where no other gains more", [Gains], ([gains]) => {
    const played = play(
      named("evolving"),
      24,
      (used, proposal) => (used === standard ? [0.5] : (gains[proposal] ?? [])),
      answerOf
    )
    // The first proposal, five contests, and the first of the next one.
    assert.strictEqual(played.filter(({ method: used }) => used === standard).length, 12)
  })

  it.prop(
    "decides a contest by the gains of equally many proposals, and only a larger sum wins",
    [Gains, Schema.Literals([1, 2, 3])],
    ([gains, proposals]) => {
      const played = play(named("evolving", { proposals }), 24, (_, at) => gains[at] ?? [], answerOf)
      let [incumbent, at] = [standard, 1]
      while (at + 2 * proposals <= played.length) {
        const contest = played.slice(at, at + 2 * proposals)
        const challenger = method(at)
        assert.isNotNull(contest[0]?.question)
        assert.isTrue(contest.slice(1).every(({ question }) => question === null))
        const sumOf = (name: string) => {
          const own = contest.filter((one) => one.method === name)
          assert.strictEqual(own.length, proposals)
          return own.reduce((sum, one) => sum + best(one.gains), 0)
        }
        const [new_, old] = [sumOf(challenger), sumOf(incumbent)]
        if (new_ > old) incumbent = challenger
        at += 2 * proposals
      }
    }
  )

  it("stays with its method where the model writes none", () => {
    for (const answer of ["", "<ins_1></ins_1>", `<ins_1>${"long ".repeat(500)}</ins_1>`])
      assert.deepStrictEqual(
        new Set(
          play(
            named("evolving"),
            5,
            () => [0.1],
            () => answer
          ).map(({ method: used }) => used)
        ),
        new Set([standard])
      )
  })

  it("shows the model its method, and what it brought, without tags of its own", () => {
    const [, second] = play(named("evolving"), 2, () => [0.25], answerOf)
    assert.include(second?.question ?? "", standard)
    assert.include(second?.question ?? "", '- 25: "Find the causes. 0.0"')
  })
})

describe("the proposer that keeps lessons", () => {
  const known = ["Name the tools.", "Be brief.", "Ask for evidence."]
  const Edit = Schema.Literals([
    "ADD: Say when to stop.",
    "ADD: Be brief.",
    "ADD:",
    "EDIT 2: Be brief, and say so.",
    "EDIT 9: Nothing.",
    "MERGE 1 3: Name the tools and ask for evidence.",
    "MERGE 1, 7: Nothing.",
    "DROP 2",
    "DROP 8",
    "DROP",
    "I think that both are fine.",
    "- DROP 1"
  ])
  const after = (
    answer: string,
    gain: number,
    lessons: ReadonlyArray<string> = known,
    most = 12
  ): { readonly lessons: ReadonlyArray<string>; readonly method: string; readonly question: string | null } => {
    const { question, read } = named("lessons", { lessons: most }).learn(
      {
        parent,
        notebook: {
          notes: { lessons, parent: "Old." },
          outcomes: [
            { text: "New.", gain: gain / 2 },
            { text: "Newer.", gain }
          ]
        }
      },
      standard
    )
    const { method, notes } = read(answer)
    const Notes = Schema.Struct({ lessons: Schema.Array(Schema.String), parent: Schema.Literal(parent.text) })
    return { question, method, lessons: Schema.decodeUnknownSync(Notes)(notes).lessons }
  }

  it.prop(
    "never keeps more than it may, none twice and none empty, whatever the model writes",
    [Schema.Array(Edit), Schema.String, Schema.Literals([1, 2, 3, 12])],
    ([edits, noise, most]) => {
      const { lessons, method } = after([...edits, noise].join("\n"), 0.5, known.slice(0, most), most)
      assert.isAtMost(lessons.length, most)
      assert.deepStrictEqual([...new Set(lessons)], lessons)
      for (const lesson of lessons) {
        assert.isNotEmpty(lesson)
        assert.isAtMost(lesson.length, 300)
        assert.include(method, `- ${lesson}`)
      }
      if (lessons.length === 0) assert.strictEqual(method, standard)
    }
  )

  it.effect.prop(
    "stays where no candidate differed from its parent, and asks nothing",
    [Schema.Array(Edit)],
    ([edits]) =>
      Effect.sync(() => {
        const { lessons, question } = after(edits.join("\n"), 0)
        assert.isNull(question)
        assert.deepStrictEqual(lessons, known)
      })
  )

  it.each([
    ["ADD: Say when to stop.", [...known, "Say when to stop."]],
    ["DROP 1", known.slice(1)],
    // Numbers are those of the lessons as they were shown.
    ["DROP 1\nDROP 2", known.slice(2)],
    ["DROP 1\nEDIT 2: Brief.", ["Brief.", "Ask for evidence."]],
    ["MERGE 1 3: Both.", ["Both.", "Be brief."]],
    ["EDIT 4: Nothing.\nMERGE 2 5: Nothing.\nDROP 0", known],
    [`EDIT 1: ${"x".repeat(400)}`, ["x".repeat(300), "Be brief.", "Ask for evidence."]]
  ])("edits as the model says: %s", (answer, lessons) => {
    assert.deepStrictEqual(after(answer, 0.5).lessons, lessons)
  })

  it.prop("calls the one better that gained", [Schema.Literals([-0.5, -0.1, 0.1, 0.5])], ([gain]) => {
    const question = after("", gain).question ?? ""
    const [better, worse] = gain > 0 ? ["Newer.", "Old."] : ["Old.", "Newer."]
    assert.include(question, `did better:\n<ins_1>\n${better}`)
    assert.include(question, `did worse:\n<ins_2>\n${worse}`)
  })

  it("does not compare a whole prompt with one of its texts", () => {
    const notebook = { notes: { lessons: known, parent: "Old." }, outcomes: [{ text: "New.", gain: 0.5 }] }
    assert.isNull(named("lessons").learn({ parent, name: "system", notebook }, standard).question)
  })
})
