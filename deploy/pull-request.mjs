/** The step of action.yml: compares each prompt that a pull request changes with that of its base branch, and comments with the reports. */
import { execFileSync, spawnSync } from "node:child_process"
import { appendFileSync, existsSync, mkdtempSync, readFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"

const {
  FLAGS = "",
  GITHUB_EVENT_PATH,
  GITHUB_OUTPUT,
  GITHUB_STEP_SUMMARY,
  PROGRAM = "",
  PROMPTS = "",
  TOKEN = ""
} = process.env

/** Words as a shell reads them, with quotes and without expansions. */
const wordsOf = (text) =>
  [...text.matchAll(/(?:"[^"]*"|'[^']*'|[^\s"'])+/gu)].map(([word]) => word.replaceAll(/"([^"]*)"|'([^']*)'/gu, "$1$2"))

const git = (...args) => execFileSync("git", args, { encoding: "utf8", stdio: ["ignore", "pipe", "inherit"] })

const event = JSON.parse(readFileSync(GITHUB_EVENT_PATH, "utf8"))
const pull = event.pull_request
if (pull === undefined) throw new Error("this action runs on the event pull_request")

// A shallow clone does not know where the branches part.
const isShallow = git("rev-parse", "--is-shallow-repository").trim() === "true"
git("fetch", "--no-tags", ...(isShallow ? ["--unshallow"] : []), "origin", `refs/heads/${pull.base.ref}`)
const base = git("merge-base", "FETCH_HEAD", "HEAD").trim()
const patterns = PROMPTS.split("\n").flatMap((line) => line.trim() || [])
// Which names a prompt had is known only with all files, of which one may have been moved among the prompts.
const changes = git("diff", "-z", "--name-status", "--find-renames", "--diff-filter=MR", base, "HEAD").split("\0")
const prompts = new Set(git("ls-files", "-z", "--", ...patterns).split("\0"))
const changed = []
while (changes.length > 1) {
  const status = changes.shift()
  const before = changes.shift()
  const file = status.startsWith("R") ? changes.shift() : before
  // One that only moved is the same prompt.
  if (prompts.has(file) && status !== "R100") changed.push({ before, file })
}

const directory = mkdtempSync(join(process.env.RUNNER_TEMP ?? tmpdir(), "inspo-"))
const [program, ...own] = wordsOf(PROGRAM)
const compared = changed.map(({ before, file }, at) => {
  const out = join(directory, String(at))
  const args = ["compare", `git:${base}:${before}`, `./${file}`, ...wordsOf(FLAGS), "--out", out]
  const { error, status } = spawnSync(program, [...own, ...args], {
    stdio: ["ignore", "inherit", "inherit"],
    // The models need their keys, and nothing needs the token.
    env: { ...process.env, TOKEN: "" }
  })
  if (error !== undefined) throw error
  const report = join(out, "report.md")
  if (![0, 3, 4].includes(status) || !existsSync(report)) process.exit(status || 1)
  return { file, status, report: readFileSync(report, "utf8") }
})

const statuses = compared.map(({ status }) => status)
const status = statuses.includes(3) ? 3 : Math.max(0, ...statuses)
// Without a requirement nothing was asked that could be met.
const isRequired = wordsOf(FLAGS).some((word) => word.split("=")[0] === "--require")
const verdicts = { 0: isRequired ? "met" : "", 3: "not-met", 4: "undecided" }
const verdict = changed.length === 0 ? "unchanged" : verdicts[status]
const marker = "<!-- inspo compare -->"
const sections = compared.map(
  ({ file, report }) =>
    `<details open>\n<summary><code>${file.replaceAll("&", "&amp;").replaceAll("<", "&lt;")}</code></summary>\n\n${report}\n</details>`
)
// A comment on GitHub has at most 65,536 characters.
const body = [marker, ...sections].join("\n\n").slice(0, 65_000)

const ask = async (method, path, content) => {
  const answer = await fetch(`${process.env.GITHUB_API_URL}/repos/${process.env.GITHUB_REPOSITORY}/${path}`, {
    method,
    headers: { authorization: `Bearer ${TOKEN}`, accept: "application/vnd.github+json" },
    ...(content === undefined ? {} : { body: JSON.stringify(content) })
  })
  if (!answer.ok) throw new Error(`GitHub answers ${answer.status} to ${method} ${path}: ${await answer.text()}`)
  return answer.json()
}

/** The comment of an earlier run, of which there may be many pages before. */
const earlier = async (page = 1) => {
  const comments = await ask("GET", `issues/${pull.number}/comments?per_page=100&page=${page}`)
  const found = comments.find((one) => one.body?.startsWith(marker))
  return found ?? (comments.length < 100 ? null : earlier(page + 1))
}

if (GITHUB_STEP_SUMMARY !== undefined) appendFileSync(GITHUB_STEP_SUMMARY, `${sections.join("\n\n")}\n`)
if (GITHUB_OUTPUT !== undefined) appendFileSync(GITHUB_OUTPUT, `verdict=${verdict}\n`)
if (TOKEN !== "" && changed.length > 0) {
  const known = await earlier()
  if (known === null) await ask("POST", `issues/${pull.number}/comments`, { body })
  else await ask("PATCH", `issues/comments/${known.id}`, { body })
}
process.exitCode = status
