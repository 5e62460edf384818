import { ofGateway } from "./gateway.ts"
import { ofMethods } from "./methods.ts"
import { inFile, type Mutation } from "./planted.ts"
import { ofStandards } from "./standards.ts"

const search = inFile("packages/evolve/src/Search.ts")
const revisedText = inFile("packages/evolve/src/RevisedText.ts")
const proposing = inFile("packages/evolve/src/Proposing.ts")
const verdict = inFile("packages/evolve/src/Viewing.ts")
const searchEvidence = inFile("packages/evolve/src/Evidence.ts")
const promptComparison = inFile("packages/evolve/src/Comparison.ts")
const protectedCases = inFile("packages/evolve/src/Protected.ts")
const constraintFile = inFile("packages/evolve/src/Constraint.ts")
const skewed = inFile("packages/statistics/src/Skewed.ts")
const compareShell = inFile("packages/evolve/src/Compare.ts")
const bounded = inFile("packages/statistics/src/Bounded.ts")
const pairedShares = inFile("packages/statistics/src/internal/PairedShares.ts")
const candidateEdits = inFile("packages/reflection/src/CandidateEdits.ts")
const reflecting = inFile("packages/reflection/src/Reflect.ts")
const judged = inFile("packages/evolve/src/Judged.ts")
const conclude = inFile("packages/evolution/src/Conclude.ts")
const evolveCalls = inFile("packages/evolve/src/Calls.ts")
const evolveLog = inFile("packages/evolve/src/Log.ts")
const fileStore = inFile("packages/journal/src/internal/fileStore.ts")
const fileLines = inFile("packages/journal/src/internal/fileLines.ts")
const evolveKeys = inFile("apps/cli/src/evolve/Keys.ts")
const evolveRetry = inFile("packages/evolve/src/Calls.ts")
const evolveShell = inFile("packages/evolve/src/index.ts")
const searchViewing = inFile("packages/evolve/src/Viewing.ts")
const searchCourse = inFile("packages/dashboard/src/view/SearchCourse.ts")
const setup = inFile("packages/evolve/src/Setup.ts")
const exchange = inFile("packages/outside/src/Exchange.ts")
const programAgent = inFile("packages/outside/src/ProgramAgent.ts")
const outsideAgent = inFile("apps/cli/src/evolve/Outside.ts")
const chatCut = inFile("packages/rollout/src/internal/Cut.ts")
const messageConversation = inFile("packages/rollout/src/internal/MessageConversation.ts")
const observation = inFile("packages/rollout/src/Observation.ts")
const outbox = inFile("packages/client/src/Outbox.ts")
const aiSdk = inFile("packages/client/src/AiSdk.ts")
const transport = inFile("packages/client/src/Transport.ts")
const inspo = inFile("packages/client/src/Inspo.ts")
const ownEngine = inFile("docs/how-to/own-engine.md")
const runStudy = inFile("research/studies/src/RunStudy.ts")
const evolutionStatus = inFile("packages/serve/src/live/EvolutionStatus.ts")
const serverEvolving = inFile("packages/serve/src/live/Evolving.ts")
const localWorker = inFile("packages/engine-local/src/internal/worker.ts")
const tinkerRouting = inFile("packages/engine-tinker/src/internal/server/Routing.ts")
const malformed = inFile("packages/http/src/server/Malformed.ts")
const value = inFile("packages/population/src/Values.ts")
const population = inFile("packages/population/src/Members.ts")
const ranking = inFile("packages/population/src/Ranking.ts")
const eventLog = inFile("packages/coevolution/src/EventLog.ts")
const generator = inFile("packages/domain/src/internal/isaac.ts")
const randomStream = inFile("packages/domain/src/RandomStream.ts")
const sampler = inFile("packages/sampler/src/Assign.ts")
const samplerShares = inFile("packages/sampler/src/Shares.ts")
const stream = inFile("packages/sampler/src/QuestionStream.ts")
const halving = inFile("packages/successive-halving/src/Halving.ts")
const replacement = inFile("packages/successive-halving/src/Replacement.ts")
const dollarBudget = inFile("packages/ledger/src/DollarBudget.ts")
const scorers = inFile("packages/evolve/src/Scorers.ts")
const candidateLint = inFile("packages/reflection/src/CandidateLint.ts")
const leak = inFile("packages/reflection/src/internal/Leak.ts")
const preferences = inFile("packages/reflection/src/internal/Preferences.ts")
const drawing = inFile("packages/reflection/src/internal/Drawing.ts")
const clauseEdit = inFile("packages/reflection/src/ClauseEdit.ts")
const ruleBased = inFile("packages/reflection/src/RuleBased.ts")
const modelProposer = inFile("packages/reflection/src/ModelProposer.ts")
const evolvingProposer = inFile("packages/reflection/src/learners/Evolving.ts")
const lessons = inFile("packages/reflection/src/learners/Lessons.ts")
const notebook = inFile("packages/evolution/src/Notebook.ts")
const buffer = inFile("packages/replay-buffer/src/ReplayBuffer.ts")
const verifying = inFile("packages/coevolution/src/internal/EvolutionStep.ts")
const evolving = inFile("packages/coevolution/src/internal/EvolutionStep.ts")
const ledger = inFile("packages/ledger/src/Ledger.ts")
const verification = inFile("packages/verification/src/Verification.ts")
const advantage = inFile("packages/policy-gradient/src/Advantage.ts")
const moments = inFile("packages/statistics/src/Moments.ts")
const learningRate = inFile("packages/policy-gradient/src/LearningRate.ts")
const batch = inFile("packages/policy-gradient/src/GrpoBatch.ts")
const weighing = inFile("packages/policy-gradient/src/Weighing.ts")
const next = inFile("packages/coevolution/src/Next.ts")
const apply = inFile("packages/coevolution/src/Apply.ts")
const conclusion = inFile("packages/coevolution/src/Conclusion.ts")
const schedule = inFile("packages/coevolution/src/Schedule.ts")
const plan = inFile("packages/analysis/src/Plan.ts")
const rounds = inFile("packages/coevolution/src/Rounds.ts")
const substitutes = inFile("packages/coevolution/src/Substitutes.ts")
const rollouts = inFile("packages/coevolution/src/internal/perform/Rollouts.ts")
const checkpoints = inFile("packages/coevolution/src/internal/perform/Checkpoints.ts")
const train = inFile("packages/coevolution/src/internal/perform/Train.ts")
const run = inFile("packages/coevolution/src/Run.ts")
const strategies = inFile("packages/coevolution/src/Strategies.ts")
const selection = inFile("packages/coevolution/src/Selection.ts")
const stateHash = inFile("packages/coevolution/src/StateHash.ts")
const trajectories = inFile("packages/coevolution/src/TrajectoryStore.ts")
const calls = inFile("packages/ledger/src/ProposerCalls.ts")
const references = inFile("packages/coevolution/src/ReferenceStore.ts")
const bookkeeping = inFile("packages/ledger/src/Bookkeeping.ts")
const journalEvents = inFile("packages/journal/src/internal/sqlJournal.ts")
const journalRecords = inFile("packages/journal/src/internal/records.ts")
const journalSqlite = inFile("packages/journal/src/sqlite.ts")
const journalLedger = inFile("packages/journal/src/internal/ledger.ts")
const toolCalls = inFile("packages/rollout/src/internal/Setup.ts")
const lanes = inFile("packages/rollout/src/Rollout.ts")
const conversation = inFile("packages/rollout/src/internal/TokenConversation.ts")
const recording = inFile("packages/rollout/src/Transcription.ts")
const scoring = inFile("packages/rollout/src/internal/Delivery.ts")
const toolLoop = inFile("packages/rollout/src/agents/ToolLoop.ts")
const referenceAgent = inFile("packages/rollout/src/agents/SearchR1Exact.ts")
const datums = inFile("packages/engine-tinker/src/internal/client/Datums.ts")
const backpressure = inFile("packages/engine-tinker/src/internal/client/Backpressure.ts")
const futures = inFile("packages/engine-tinker/src/internal/server/Futures.ts")
const requestQueue = inFile("packages/engine-tinker/src/internal/server/RequestQueue.ts")
const guard = inFile("packages/http/src/server/Guard.ts")
const patientClient = inFile("packages/http/src/client/PatientClient.ts")
const snapshot = inFile("packages/cohorts/src/Snapshot.ts")
const losses = inFile("packages/cohorts/src/internal/Losses.ts")
const evidencePruning = inFile("packages/successive-halving/src/EvidencePruning.ts")
const comparison = inFile("packages/population/src/Comparison.ts")
const blocks = inFile("packages/population/src/Blocks.ts")
const servedEvidence = inFile("packages/cohorts/src/CohortEvidence.ts")
const archiveLookup = inFile("packages/serve/src/store/internal/ArchiveLookup.ts")
const kernel = inFile("packages/evolution/src/Decide.ts")
const kernelApply = inFile("packages/evolution/src/Apply.ts")
const kernelSchedule = inFile("packages/evolution/src/Schedule.ts")
const difference = inFile("packages/population/src/Difference.ts")
const shares = inFile("packages/cohorts/src/Shares.ts")
const sampleRatio = inFile("packages/cohorts/src/SampleRatio.ts")
const flagStratum = inFile("packages/serve/src/http/internal/FlagHandlers.ts")
const guardrails = inFile("packages/cohorts/src/Guardrails.ts")
const pausing = inFile("packages/cohorts/src/internal/Pausing.ts")
const constraints = inFile("packages/evolution/src/Constraint.ts")
const seedOnly = inFile("packages/cohorts/src/internal/SeedOnly.ts")
const handling = inFile("packages/cohorts/src/Handle.ts")
const horizon = inFile("packages/cohorts/src/Horizon.ts")
const ending = inFile("packages/cohorts/src/Next.ts")
const folding = inFile("packages/cohorts/src/Apply.ts")
const leasing = inFile("packages/cohorts/src/internal/Leasing.ts")
const granting = inFile("packages/cohorts/src/internal/Granting.ts")
const leaseKinds = inFile("packages/cohorts/src/internal/Granting.ts")
const rewarding = inFile("packages/cohorts/src/internal/Rewarding.ts")
const archive = inFile("packages/cohorts/src/Archive.ts")
const concluding = inFile("packages/cohorts/src/internal/Decisions.ts")
const serverSecurity = inFile("packages/serve/src/http/internal/Security.ts")
const serverApi = inFile("packages/serve/src/wire/Api.ts")
const serverClock = inFile("packages/serve/src/live/internal/Clock.ts")
const leaseIds = inFile("packages/serve/src/live/internal/LeaseIds.ts")
const serverLeases = inFile("packages/serve/src/http/internal/LeaseHandlers.ts")
const direct = inFile("packages/serve/src/http/internal/Direct.ts")
const plainRequests = inFile("packages/serve/src/http/internal/Plain.ts")
const serverMembers = inFile("packages/serve/src/http/internal/AdminHandlers.ts")
const standby = inFile("packages/serve/src/store/Standby.ts")
const upstreamPath = inFile("packages/serve/src/http/internal/UpstreamPath.ts")
const register = inFile("packages/serve/src/store/internal/Register.ts")
const commit = inFile("packages/serve/src/live/LivePopulation.ts")
const nodeSqlite = inFile("packages/journal/src/internal/nodeSqlite.ts")
const evolvingOf = inFile("packages/serve/src/live/Evolving.ts")
const evidenceOf = inFile("packages/reflection/src/Evidence.ts")
const retention = inFile("packages/serve/src/live/internal/Retention.ts")
const auxiliaryRecords = inFile("packages/serve/src/store/internal/Stored.ts")
const marker = inFile("packages/serve/src/http/internal/Marker.ts")
const places = inFile("packages/serve/src/http/internal/Admission.ts")
const keyRate = inFile("packages/serve/src/http/internal/Security.ts")
const serverMalformed = inFile("packages/serve/src/http/internal/Security.ts")
const clientPermits = inFile("packages/http/src/internal/ClientPermits.ts")
const upload = inFile("packages/http/src/internal/Upload.ts")
const wire = inFile("packages/client/src/Wire.ts")

/**
 * Faults of each kind, such as operators, boundaries, signs, dropped terms and wrong operands: for each decision of the pure
 * core, and in what performs commands, stores paid work, keeps sessions and talks to engines.
 */
export const mutations: ReadonlyArray<Mutation> = [
  chatCut("text.slice(0, end)\n}", "text\n}", "a chat model's turn is not cut after its action"),
  messageConversation("`${episode.id}/${name}`", "`${episode.id}/turn`", "the calls of an episode share a key"),
  observation(
    "countTokens(cutTo(length)) <= limit",
    "countTokens(cutTo(length - 1)) <= limit",
    "a cut observation is a character too long"
  ),
  bookkeeping("turn.withPermit(reserving)", "reserving", "works that begin together all take what is left for one"),
  revisedText("return gained / (", "return -gained / (", "the text whose revisions lost most is revised"),
  revisedText("(proposals.get(name) ?? 0) + 1", "1", "a text whose proposals bring nothing is revised for ever"),
  proposing(".concat(inherited)", "", "a prompt is asked what its parent demonstrates"),
  proposing(
    "return state.setup.search.flatMap",
    "return [...state.setup.test].flatMap",
    "held-out cases are demonstrated"
  ),
  search(
    "new Set(sources.get(prompt)?.reflected)",
    "new Set<string>()",
    "a prompt is scored on the failures that it was written from"
  ),
  search(
    'Invariant.at(setup.search, at, "case")',
    'Invariant.at(setup.test, at % setup.test.length, "case")',
    "the search asks held-out cases"
  ),
  search("callsLeft(state) - testCalls(state)", "callsLeft(state)", "the search spends what the test needs"),
  verdict(
    "isReturned ? finalist : Search.original,\n    test",
    "finalist,\n    test",
    "a prompt is returned that is not shown to be better"
  ),
  searchEvidence(
    "meanOf(after, 0) - meanOf(before, 1)",
    "meanOf(after, 1) - meanOf(before, 0)",
    "a missing score speaks for the new prompt"
  ),
  conclude(
    "isHigh(pairs.map(({ most }) => -most))",
    "isHigh(least.map((one) => -one))",
    "a missing score shows a loss"
  ),
  conclude("found.lower > 0", "found.mean > 0", "a difference within its interval is one"),
  conclude("lower <= upper ? { ...last", "true ? { ...last", "looks that exclude each other leave an empty interval"),
  conclude("asLarge / (permutations + 1)", "asLarge / (2 * permutations)", "the test of signs takes twice its risk"),
  promptComparison("0.05 / (arms.length - 1)", "0.05", "each of several candidates takes the whole risk"),
  promptComparison(
    "new Set([...(state.shown[at] ?? []), ...shown])",
    "new Set(shown)",
    "a claim that was shown is lost"
  ),
  promptComparison("before.length === settings.samples && ", "", "a case counts before all its answers are there"),
  promptComparison(
    "others(setup).filter((_, at) => !isSettled(state, at))",
    "others(setup)",
    "a comparison asks on when it knows"
  ),
  promptComparison(
    "cases.lost.length > 0 || found.some",
    "found.some",
    "a candidate that loses a protected case is no worse"
  ),
  promptComparison(
    "cases.open.length === 0 && found.length === setup.constraints.length && found.every",
    "cases.open.length === 0 || found.every",
    "a verdict does not wait for its constraints"
  ),
  protectedCases("isLosing = differences.length < least ||", "isLosing =", "a protected case is not asked at all"),
  protectedCases("Math.log(cases.length / risk)", "0", "a protected case is lost by chance"),
  skewed("const more = 2 * farthest", "const more = 0 * farthest", "the mean of a skewed cost is called low"),
  search("value <= limit", "true", "a prompt is tested that saves nothing"),
  search("setup.aim === undefined &&", "", "a search for a shorter prompt ends where none can be better"),
  search('aim?.what === "no-worse" ? replaced : original', "original", "a new model is compared with itself"),
  verdict("gain.lower > -aim.margin", "true", "a shorter prompt that is worse is returned"),
  verdict(
    '(saved?.isMet === true || aim.what === "no-worse") && ',
    "",
    "a prompt is called cheaper that saves nothing"
  ),
  constraintFile("if (base === 0)", "if (base < 0)", "a prompt without a price is called cheaper"),
  constraintFile("isKnown && pairs", "pairs", "a number that no answer has is within its bound"),
  compareShell(
    "same * samples + ask.sample",
    "ask.sample",
    "a prompt that is compared with itself gets its own answers"
  ),
  conclude(
    '"no-worse": Bounded.evidence(losses, margin,',
    '"no-worse": Bounded.evidence(losses, 2 * margin,',
    "a loss of twice the margin is no worse"
  ),
  bounded("share: 3 / 32", "share: 1 / 4", "bets are made with more money than there is"),
  bounded("Math.abs(skewness) < 1e-6 ? quantile", "true ? quantile", "a mean of skewed differences is not corrected"),
  pairedShares("if (gains > last) tail -=", "if (gains < last) tail -=", "outcomes below the given one count as high"),
  pairedShares(
    "Math.abs(mean) + (1 - Math.abs(mean)) * share",
    "Math.abs(mean) + (1 - Math.abs(mean)) * 0.5",
    "the bound holds for one share of equal pairs alone"
  ),
  candidateEdits(
    "original.includes(search, start + 1)",
    "false",
    "an edit of a text that is there twice changes the first"
  ),
  candidateEdits("start < other.end && other.start < end", "false", "an edit changes the text of another edit"),
  candidateEdits("one.start - other.start", "other.start - one.start", "edits in another order lose text"),
  modelProposer("asEdits ? parent.text : null", "null", "the edits of a long instruction are read as its revision"),
  reflecting(
    "[...unusable, ...rejected, ...tooLong]",
    "[...rejected, ...tooLong]",
    "nobody learns of edits that were refused"
  ),
  judged("one >= 1 / 2 === other", "one <= 1 / 2 === other", "a judge is right where it contradicts the label"),
  evolveCalls(
    "if (earlier !== null) {",
    "if (earlier === undefined) {",
    "an output that was paid for is obtained again"
  ),
  evolveCalls(
    '  yield* write({ _tag: "Started", kind: "agent", key, atMost: most })\n',
    "",
    "a call in flight at a kill is not counted"
  ),
  evolveCalls(
    "        round.fatal ??= failure\n        return Effect.void\n",
    "        return Effect.fail(failure)\n",
    "answers in flight are lost where a score fails"
  ),
  evolveCalls(
    "Exit.hasInterrupts(exit) ? Effect.void : ",
    "",
    "a call starts with the money of one that is interrupted"
  ),
  exchange("asked.has(found.id)", "true", "an answer to no call is overlooked, and its call waits"),
  exchange("Math.max(since, lastAnswer)", "Math.min(since, lastAnswer)", "a program that answers is held for silent"),
  exchange("length > longestLine", "length > Infinity", "a line of any length is kept in memory"),
  exchange("    waiting.delete(found.id)\n", "", "a second answer is taken for the first"),
  programAgent(
    "inFlight.withPermits(mostInFlight)(",
    "inFlight.withPermits(1)(",
    "a call that crashes takes others with it"
  ),
  programAgent("yield* Effect.forkIn(Scope.close(scope, Exit.void), parent)", "", "a program that broke stays alive"),
  outsideAgent(", gone)", ", null)", "a search goes on without the process that answers, and loses all its calls"),
  inFile("packages/outside/src/Secrets.ts")(
    'replaceAll(secret, "REDACTED")',
    'replaceAll("", "")',
    "a secret of the environment is in the log"
  ),
  evolveCalls("callsLeft <= 0", "callsLeft <= -99", "calls that were in flight pass the budget of calls"),
  evolveLog("if (lost !== null) yield* write(lost)", "", "what was in flight at a kill is free"),
  evolveLog("atMost ?? largest(events, kind)", "atMost ?? 0", "a call in flight of unknown price is free"),
  fileStore(
    "const [rival] = living.toSorted(byAge)",
    "const [rival] = living.slice(0, 0)",
    "two processes write one file"
  ),
  fileStore("return own.has(name)", "return true", "a lock from before a container restarted keeps its process out"),
  fileStore('"ESRCH"', '"EPERM"', "a process that was killed keeps its lock"),
  evolveKeys('variables.get(originOf(url) ?? "")', "[...variables.values()][0]", "a key goes to every server"),
  evolveRetry("count >= retries || isPermanent(failure.cause)", "count >= retries", "a refused key is tried again"),
  fileStore("await handle.truncate(at)", "await handle.truncate(0)", "a search begins again on its own file"),
  fileStore("found.size === size", "found.size >= size", "two processes append to one file"),
  fileLines(
    "hashOf(before, rest) !== hash",
    "hash.length !== hashLength",
    "a changed event is taken for what was written"
  ),
  evolveLog("journal.readFrom(events + 1)", "journal.readFrom(1)", "what was read is read again"),
  search(
    "if (round === null || !HashSet.has(pending, keyOf(ask)))",
    "if (false)",
    "an answer that was never asked for counts"
  ),
  searchViewing(
    "concluded === null ? leader : prompt",
    "leader",
    "cases fail under a prompt that is not shown to be better"
  ),
  searchCourse("from: first.place", "from: first.place + 1", "a prompt enters its chart a round late"),
  evolveShell(
    '["expected", "protected", "session"]',
    '["protected", "session"]',
    "the right answer is part of the task"
  ),
  setup(
    "if (!known.has(key)) known.set(key, one)",
    "known.set(`${key} ${count}`, one)",
    "equal cases are in the search and in the test"
  ),
  setup("search: order.slice(test)", "search: order", "held-out cases are in the search"),
  value(
    "member.window : [...member.window",
    "[...member.window] : [...member.window.slice(1)",
    "an observation is lost"
  ),
  value("window.slice(-n)", "window.slice(0, n)", "keeps the oldest observations"),
  value("entry.step > step - n", "entry.step >= step - n", "the window is one step too long"),
  value(
    'averaging.average === "window" ? averaging.window : window.length',
    'averaging.average === "window" ? window.length : averaging.window',
    "row 4 is swapped"
  ),
  value("stale: !known && member.value !== null", "stale: !known || member.value !== null", "every value is stale"),
  value(": member.value,\n      stale", ": null,\n      stale", "an empty window forgets the value"),
  value('unseen === "zero" ? () => 0', 'unseen === "zero" ? () => 1', "unseen instructions have the value 1"),
  value("sumAll(known) / known.length", "sumAll(known)", "takes the sum of the known values, not their mean"),
  value('best === "value" ||', 'best !== "value" ||', "row 9 is swapped"),
  value("mean: sum / trajectories", "mean: sum / groups.length", "divides by the number of groups"),
  value("lifetime.trajectories + trajectories", "lifetime.trajectories + groups.length", "counts groups twice"),
  value("if (step <= population.step)", "if (step < population.step)", "rewards of a step count twice"),
  value(
    "    InvalidInput.assertRewards(where, `rewards of ${instructionId}`, rewards)\n",
    "",
    "accepts any number as a reward"
  ),

  population("if (present.has(id))", "if (!present.has(id) && id === '')", "accepts a newcomer with a member's id"),
  population("!dropping.has(instruction.id)", "dropping.has(instruction.id)", "removes the others"),
  population("window: [], value: null, stale: false }))", "window: [], stale: false }))", "values survive a reset"),
  population("known.delete(current.id)", "known.delete(id)", "a circular lineage never ends"),
  population("line.unshift(current)", "line.push(current)", "a lineage is reversed"),
  population("lifetime.trajectories === 0", "lifetime.groups === 1", "a single group does not count as evidence"),

  ranking("[byValue(values), byGroups, byAge]", "[byValue(values), byAge, byGroups]", "ranks by age before evidence"),
  ranking(
    "Order.flip(Order.mapInput(Order.Number, (member) => member.lifetime.groups))",
    "Order.mapInput(Order.Number, (member) => member.lifetime.groups)",
    "ranks the least observed first"
  ),
  ranking(
    "{ order: stable, evidence: explored }",
    "{ order: explored, evidence: stable }",
    "the options of row 19 are swapped"
  ),

  eventLog("return version === known ? null :", "return version !== undefined ? null :", "any version is read"),

  generator("(blocks + 1) | 0", "blocks | 0", "the blocks of a generator are not counted"),
  generator("encoder.encode(seed)", "encoder.encode(seed).slice(0, 1024)", "the end of a long name is not in the seed"),
  randomStream("(word() >>> 0)", "word()", "a signed word shifts draws, some below 0"),
  randomStream("last >= 1", "last > 1", "a shuffle leaves the first two elements in order"),

  samplerShares("(value - largest) / temperature", "(value - largest) * temperature", "multiplies by τ"),
  samplerShares("Math.exp((value - largest)", "Math.exp((value + largest)", "overflows"),
  sampler("point < end)", "point > end)", "the look-up compares with the wrong end"),
  sampler(
    "stream.shuffle(stratum.map(({ index }) => index))",
    "stratum.map(({ index }) => index)",
    "no shuffle in a source"
  ),
  sampler("(position + offset) / indices.length", "position / indices.length", "no random offset"),
  sampler('["assignment", step]', '["assignment"]', "every step draws the same"),
  sampler(
    "shares.length, 1 / Math.max(...shares))",
    "shares.length)",
    "an instruction with a large share is on a question twice"
  ),
  sampler("const order = stream.shuffle(shares)", "const order = shares", "only neighbours meet on a question"),
  samplerShares("return chance + floor", "return chance", "an instruction that is never the best is never asked"),
  sampler("Math.ceil(end - offset)", "Math.floor(end - offset)", "a draw is lost"),

  stream(
    "Math.floor(request.size / request.batchSize)",
    "Math.ceil(request.size / request.batchSize)",
    "the last batch of an epoch is smaller"
  ),
  stream("(request.step - 1) / perEpoch", "request.step / perEpoch", "the first epoch is one step too short"),
  stream("((request.step - 1) % perEpoch) * request.batchSize", "(request.step - 1) % perEpoch", "batches overlap"),
  stream('["questions", epoch]', '["questions"]', "every epoch has the same order"),

  halving("quota ?? Math.floor(size / 2)", "quota ?? Math.ceil(size / 2)", "also prunes the middle one"),
  halving("slice(0, least)", "slice(0, least + 1)", "chooses one parent too many"),
  replacement(
    "!staying.has(id))\n      .toReversed()",
    "staying.has(id))\n      .toReversed()",
    "newcomers replace parents"
  ),
  halving("protectedIds.has(id))\n          .toReversed()", "protectedIds.has(id))", "best of the pruned first"),

  buffer("experience.step > now - steps", "experience.step >= now - steps", "keeps one step too many"),
  buffer("toSorted(byWorth).slice(cap)", "toSorted(byWorth).slice(cap + 1)", "keeps one experience too many"),
  buffer("toSorted(byWorth).slice(cap)", "toSorted(byWorth).slice(0, -cap)", "keeps the least worthy"),
  buffer(
    "experience.reward < request.threshold",
    "experience.reward <= request.threshold",
    "a reward at the threshold fails"
  ),
  buffer("experience.step === latest && fails", "fails", "draws failures of any step"),
  buffer("experience.instructionId === request.parent && fails", "fails", "draws failures of any instruction"),
  buffer(
    "!excluded.has(experience.questionId)",
    "excluded.has(experience.questionId)",
    "draws only excluded questions"
  ),
  buffer(
    "[...firsts, ...repeats].slice(0, request.count)",
    "[...repeats, ...firsts].slice(0, request.count)",
    "draws repeats first"
  ),
  buffer("experience.reward, 0) / met.length]", "experience.reward, 0)]", "takes a sum instead of a mean"),
  buffer(
    "experience.instructionId === instruction)",
    "experience.instructionId !== instruction)",
    "takes the mean of the others"
  ),

  verification("own >= parentMean", "own > parentMean", "a tie counts as worse"),
  verification("own : own - parentMean", "own : own + parentMean", "ranked by a sum"),
  verification(
    "(candidates + (parent ? 1 : 0)) * questions",
    "candidates * questions",
    "the parent's rollouts are not counted"
  ),
  verification("...(fill ?", "...(!fill ?", "row 12 is swapped"),
  verification("candidate > parent)", "candidate >= parent)", "a tie counts as a win"),
  verification("Math.max(0, places - chosen.length)", "Math.max(0, places)", "the shortfall counts taken places"),
  verification(
    "met.length === 0 ? storedParentMean",
    "parent === null ? storedParentMean",
    "takes the mean of no scores"
  ),
  verification(
    "parent.slice(0, scores.length)",
    "parent",
    "a stopped candidate is compared on questions that it was not asked"
  ),

  moments("(values.length - 1))", "values.length)", "divides by n instead of n - 1"),
  moments("spread + epsilon", "spread", "ε is not added"),
  moments("value - middle)\n}", "value)\n}", "the reward is not centred"),
  ...ofGateway,
  ...ofMethods,
  ...ofStandards,
  advantage("({ name }) => name === called", "({ name }) => name !== called", "the kinds are swapped"),

  learningRate(
    "(learningRate * current) / warmup",
    "(learningRate * current) / (warmup + 1)",
    "the peak is one step late"
  ),
  learningRate("totalSteps - warmup + 1", "totalSteps - warmup", "the last step has the rate 0"),
  learningRate("(1 + Math.cos", "(1 - Math.cos", "the cosine rises"),
  learningRate("share * totalSteps", "share", "no warm-up"),

  batch("JSON.stringify([t.instructionId, t.questionId])", "t.questionId", "groups by question only"),
  batch("count.trajectories * count.actions", "count.actions", "the batch's size does not count"),
  batch("1 / count.allActions", "1 / count.actions", "the token mean is per sequence"),
  batch("actionTokens([segment]) === 0", "false", "segments without action tokens are trained on"),
  batch("miniBatch, counts", "miniBatch, miniBatch.map(() => 1)", "tokens do not share the loss of their trajectory"),
  batch("prompt: segment.prompt", "prompt: trajectory.prompt", "tokens are trained in the last context"),
  batch(
    ".every((value) => value === 0) && rewardsAlone",
    ".every((value) => value === 0)",
    "sequences with only a KL term are left out"
  ),
  batch("isAction === 1 ? weight : 0", "weight", "observation tokens are trained on"),
  batch("advantage - klCoefficient *", "advantage + klCoefficient *", "the penalty has the wrong sign"),
  batch('kl.name === "loss" ? kl.coefficient : 0', "klCoefficient(kl)", "KL counts twice"),
  batch("turns.slice(turnsIn(earlier))", "turns", "each segment begins with the first turn"),
  batch("isKept[member] === true", "true", "rollouts that are left out are trained"),
  weighing("logprobs: at(logprobs),", "logprobs: at(datum.logprobs),", "no ratio leaves 1"),
  weighing("advantages[token] = coefficient", "advantages[token] ??= coefficient", "the loss weighs no token"),
  batch("`${step.key}/${index}`", "step.key", "requests share a key"),

  next("const step = state.step + 1", "const step = state.step", "a step is planned again"),
  schedule("step >= span[0] && step <= span[1]", "step >= span[0] && step < span[1]", "the last step does not train"),
  next("step - first + 1, last - first + 1", "step, last", "the warm-up counts from step 1"),
  evolving('algorithm.selection.ranking === "before"', 'algorithm.selection.ranking === "after"', "row 3 is swapped"),
  evolving("(round - 1) % parents.length", "0", "every round belongs to the first parent"),
  evolving(
    "evolution.round === 1 ?",
    "evolution.round >= 1 ?",
    "a later round without failures discards the candidates"
  ),
  evolving("const failureThreshold = 0.5", "const failureThreshold = 1.5", "successes are failures"),
  kernel(", ...(boundsOf(context, state)?.kept ?? [])]", "]", "candidates replace the incumbent"),
  next(
    'open.policy === "before" ? 0 :',
    'open.policy === "after" ? 0 :',
    "the untrained policy is used instead of the trained one"
  ),
  next("done.policy === policy && done.instruction", "done.instruction", "a cell of the table is missing"),
  apply(
    'afterUpdate(algorithm, state, step).phase._tag === "Plan"',
    "true",
    "a step is planned ahead although pruning, evolution, validation or a checkpoint is due before it"
  ),
  apply(
    "Schedule.trains(algorithm, step + 1) &&",
    "",
    "a step that does not train is sampled by a policy that lacks an update"
  ),
  apply(
    ".filter(({ trajectoryId }) => reflected.has(trajectoryId))",
    ".filter(({ trajectoryId }) => !reflected.has(trajectoryId))",
    "verifies on the reflected failures"
  ),

  kernelApply("entrants !== null && Population", "Population", "searches before the first evolution"),
  kernelApply("Population.isUnrewarded(population) && ", "", "searches on after the first reward"),
  apply("previousValues: plan.values", "previousValues: state.previousValues", "W of step 0 is used forever"),
  kernelApply("  newcomers: []\n", "", "newcomers stay newcomers"),
  kernelApply(
    "event.accepted.length + event.shortfall",
    "event.accepted.length",
    "an evolution that fell short adds less again"
  ),
  kernelApply("    resetsWindows ? {", "    !resetsWindows ? {", "windows are kept where they begin again"),
  apply("      reward\n", "      reward: rewards[0]\n", "all rewards of a group are the first"),
  kernelApply("round: evolution.round + 1", "round: evolution.round", "rounds never end"),
  kernelApply("Population.resetWindows(remaining.population)", "remaining.population", "values survive an evolution"),
  kernelApply("    ...evolution.verified,\n", "", "earlier rounds are forgotten"),
  kernelApply("if (questions === 0) return null", "if (questions !== 0) return null", "scores are lost"),
  apply(
    'Schedule.validates(algorithm, state.step)\n    ? { ...state, phase: { _tag: "Validate" } }',
    "Schedule.validates(algorithm, state.step)\n    ? evolving(algorithm, state)",
    "the validation questions are never answered"
  ),
  apply(
    "state.step >= algorithm.schedule.steps ?",
    "state.step > algorithm.schedule.steps ?",
    "runs one step too many"
  ),
  apply(
    "spent.rollouts[purpose] + (failed?.trajectories.length ?? 0)",
    "spent.rollouts[purpose]",
    "failed rollouts are free"
  ),
  apply("total + Group.tokens(group)", "Group.tokens(group)", "counts only the tokens of the last group"),

  apply(
    "if (credit === undefined) return groups",
    "if (groups.length > 0) return groups",
    "every instruction keeps its own credit"
  ),
  ledger("used[cap] + wanted > limit", "used[cap] > limit", "work that does not fit is begun"),
  ledger("used[cap] >= limit ||", "", "work of unknown cost starts with an empty budget"),

  conclusion(
    'evidence === null && deciding.algorithm.selection.instruction === "proven"',
    "evidence === null",
    "the paper's argmax is not used"
  ),

  schedule(
    "algorithm.population.size > algorithm.population.parents",
    "algorithm.population.size >= algorithm.population.parents",
    "evolves without a place to fill"
  ),
  schedule("algorithm.verification.samples === 0 &&\n", "", "searches with verification"),
  schedule("step < algorithm.schedule.steps &&\n", "", "searches after the last step"),
  kernelSchedule("step <= (schedule.evolveUntil", "step < (schedule.evolveUntil", "the last evolution is skipped"),
  schedule(
    "step >= (algorithm.control.policyFirst ?? 1)",
    "step > (algorithm.control.policyFirst ?? 1)",
    "the first evolution is one step late"
  ),
  kernelSchedule(
    "period > 0 && step % period === 0",
    "period > 0 && step % period === 1",
    "all decisions are one step late"
  ),
  schedule("divides(algorithm.checkpoint.every, step) || step >=", "step >=", "checkpoints only at the end"),

  plan("algorithm.schedule.steps,\n    prunes", "algorithm.schedule.steps - 1,\n    prunes", "plans one step too few"),
  rounds("rounds === limit || ", "", "draws beyond the limit of a step"),
  rounds("differing.slice(0, wanted)", "differing", "trains more groups than planned"),
  rounds("({ id }) => id !== instructionId", "() => true", "rescues a group under its own instruction"),
  substitutes("if (!Memory.failed(group.rewards)) return []", "", "replaces rollouts of groups with a success"),
  substitutes(".slice(0, rollout.rescue?.members ?? 0)", "", "trains more rescues than allowed"),
  substitutes("Object.keys(known).every((id) => alive.has(id))", "true", "remembers successes of removed instructions"),
  inFile("packages/sampler/src/QuestionStream.ts")(
    ".filter((index) => !own.has(index))",
    "",
    "asks a question twice in a step"
  ),

  plan("samples ?? questions.map", "questions.map", "counts a part of a group as a whole one"),
  plan("command.size > command.seeds.length ? 1 : 0", "1", "a call for a population that needs none"),
  plan(
    "verification: { min: least.verification,",
    "verification: { min: most.verification,",
    "a minimum above the maximum"
  ),
  plan("to < from ? [", "to <= from ? [", "plans prunings that remove none"),
  plan("Math.min(train.batchSize, questions)", "train.batchSize", "counts missing questions"),
  plan("expected.calls - proposals }", "expected.calls }", "proposals are counted twice"),
  plan("expected.calls + expected.lessons", "expected.calls", "what a proposer asks to learn is not counted"),

  verifying(
    "const credited = algorithm.control.permuteCredit\n",
    "const credited = algorithm.control.permuteCredit === null\n",
    "verification keeps its true credit"
  ),
  selection(
    "state.checkpoints.slice(0, -keep)",
    "state.checkpoints.slice(0, state.checkpoints.length - keep + 1)",
    "the last checkpoint goes before its successor is committed"
  ),
  selection(
    "new Set([0, ...eligibleSteps(algorithm, state)])",
    "new Set(eligibleSteps(algorithm, state))",
    "the untrained policy is removed"
  ),
  selection(
    "validations.flatMap(({ step }) => (step >= from ?",
    "validations.flatMap(({ step }) => (step > from ?",
    "the policy to return is removed"
  ),
  stateHash(
    "  ...state,\n  checkpoints",
    "  ...state,\n  inlineVerification: null,\n  checkpoints",
    "a round in steps is not hashed"
  ),
  stateHash("({ step, hash: checkpoint.hash })", "({ step })", "another checkpoint has the same hash"),
  run(
    'event._tag === "StepTrained" && event.step > step &&',
    'event._tag === "StepTrained" && event.step >= step &&',
    "a resume trains the checkpoint's step again"
  ),
  run(
    "    yield* catchUp(stored,",
    "    if (stored.step < 0) yield* catchUp(stored,",
    "a resume keeps the weights of its start"
  ),
  run("yield* assertSameRun(events, started)", "", "a resume under another algorithm continues"),
  run("completedSteps: step, phase: phase._tag", "", "spans of what a run performs have no attributes"),
  run('  { part: "search", subject', '  { part: "data", subject', "a retriever replaces passages on a resume"),
  run("tokenizer.prompt([{ role:", "([{ role:", "a resume with another chat template continues"),
  run("if (strategy !== null)", "if (strategy === null)", "a resume under another strategy continues"),
  strategies("removal: removal.identity", "removal: sampler.identity", "the name of another strategy is recorded"),
  strategies(
    "Equal.equals(recorded[part], named[part]) ? [] :",
    "!Equal.equals(recorded[part], named[part]) ? [] :",
    "custom strategies are recorded as those of the settings"
  ),
  run(
    "    yield* EventLog.append(journal, event, after)\n    yield* options.onEvent(event, after)",
    "    yield* options.onEvent(event, after)\n    yield* EventLog.append(journal, event, after)",
    "an event is reported before it is committed"
  ),
  calls("key: `${key}/${attempt}`", "key", "a retry reads the stored answer again"),
  bookkeeping("if (known !== undefined) return known", "", "a stored answer is paid for again"),
  bookkeeping("yield* records.put(step, [{ key, value: result.success }])", "", "a paid answer is not kept"),
  calls("onFailure: ({ spent }) => spent ?? Spent.nothing", "onFailure: () => Spent.nothing", "failed calls are free"),
  calls(
    "usd !== null && atMost.usd === null",
    "usd === null && atMost.usd === null",
    "calls of an unknown price are made under a limit"
  ),
  trajectories("episodes.filter(({ id }) => !known.has(id))", "episodes", "stored trajectories are rolled out again"),
  trajectories(
    "failed.length > maxFailedShare * episodes.length",
    "failed.length > episodes.length",
    "a run learns from the episodes that did not fail"
  ),
  trajectories(
    "finished.filter((one) => !Trajectory.isFailed(one))",
    "finished",
    "failures are stored before it is known that they are few"
  ),
  trajectories("chat ? 0 : Trajectory.tokens(trajectory) }", "0 }", "the tokens of a rollout are free"),
  trajectories("(Ledger.isMetered(limits) && !chat ? 1 : 4)", "4", "a metered run can overspend fourfold"),
  references(
    "logprobs[at]?.length !== datums[at].response.length",
    "logprobs[at] === undefined",
    "a response without all its log-probabilities is trained on"
  ),
  journalSqlite(
    "ON CONFLICT DO NOTHING",
    "ON CONFLICT (kind, key) DO UPDATE SET value = excluded.value, hash = excluded.hash",
    "a later answer replaces the first"
  ),
  journalLedger("before.has(name) || names.has(name)", "false", "work done again counts as new"),
  journalEvents(
    "WHERE sequence >= ${sequence - 1}",
    "WHERE sequence >= ${sequence}",
    "the first event that follows is checked against nothing"
  ),
  journalRecords("hash === recordHash(kind, key, step, text)", "hash !== null", "a changed record is accepted"),
  toolCalls("byInput.get(input) ?? unanswered", "replies[0] ?? unanswered", "all inputs get the first reply"),
  toolCalls("replies.length === inputs.length", "replies.length <= inputs.length", "missing replies shift the others"),
  toolCalls("times: options.attempts - 1", "times: options.attempts", "a tool call is tried once too often"),
  lanes("enter(places - going.length)", "enter(places)", "more episodes are in flight than the engine allows"),
  lanes("if (!isOver(next.value)) open++", "open++", "an episode that is over at once takes a place"),
  lanes("Effect.ensuring(", "Effect.andThen(", "episodes that finished in a failed round are lost"),
  lanes("() => Ref.set(isStopping, true)", "() => Effect.void", "lanes continue after one has failed"),
  lanes("Math.floor((places + lane) / count)", "Math.ceil((places + lane) / count)", "shares are too large"),
  conversation(
    "transcription.isRescored || demonstration",
    "demonstration",
    "tokenised turns have no log-probabilities"
  ),
  conversation("seen.length >= contextLength", "seen.length > contextLength", "a turn is asked for without room"),
  conversation(
    "seen.length > config.maxPromptTokens",
    "seen.length >= config.maxPromptTokens",
    "a prompt that fits is refused"
  ),
  conversation("request.maxTokens - tokens.length", "request.maxTokens", "a turn in parts outgrows its limit"),
  conversation(
    "return spare < envelope ? 0 : spare",
    "return spare",
    "a search is executed although its result has no room"
  ),
  conversation(
    "recording: () => transcription.kept(recorded().recording())",
    "recording: () => recorded().recording()",
    "limits of the kept part are ignored"
  ),
  recording("this.mask = []\n", "\n", "a segment has the mask of the one before"),
  recording("{ prompt: this.prompt, response", "{ prompt, response", "earlier segments have the last prompt"),
  recording("this.isFresh ? this.segment.text", "true ? this.segment.text", "each turn begins a segment"),
  conversation("recorder.isFresh && seen", "recorder.transcript.length === 0 && seen", "later prompts have no limit"),
  recording('(turn.observation ?? "") + text', "text", "a later observation replaces an earlier one"),
  scoring("isAction === 1 ? logprob : 0", "logprob", "observations get log-probabilities"),
  referenceAgent(
    "(limits) => ToolLoop.maximumTokens(limits)",
    "ToolLoop.maximumTokens",
    "its context does not roll on"
  ),
  toolLoop("turns.length > maxTurns", "turns.length >= maxTurns", "the last turn is not sampled"),
  toolLoop(
    'return canShow ? null : "context-exhausted"',
    "return null",
    "a tool is called although its reply has no room"
  ),
  datums("counted.length * bits", "datums.length * bits", "datums that do not count dilute the others"),
  datums(
    "values.slice(values.length - response.length)",
    "values.slice(0, response.length)",
    "log-probabilities of the prompt for those of the response"
  ),
  datums("part.length >= limits.most ||", "part.length > limits.most ||", "a part holds one too many"),
  backpressure("Math.min(concurrency, 10)", "concurrency", "a server that refused requests gets as many as before"),
  futures(
    "if (known.digest === digest) return known.id",
    "return known.id",
    "another request under a known number gets the old answer"
  ),
  futures("slot: one.once ? null : one.slot", "slot: one.slot", "an update may be done twice"),
  requestQueue(
    "(a.sequence ?? 0) - (b.sequence ?? 0)",
    "(b.sequence ?? 0) - (a.sequence ?? 0)",
    "updates run in another order"
  ),
  requestQueue("next.sequence > expected", "next.sequence < expected", "a missing update is not waited for"),
  patientClient(
    "now - began + Duration.toMillis(duration) <= retryBudget",
    "now - began <= retryBudget",
    "a server may ask for a pause beyond the retry budget"
  ),
  patientClient("Duration.max(pause, ", "Duration.max(Duration.zero, ", "Retry-After is ignored"),
  guard(
    'name === "localhost" ||',
    'name.startsWith("localhost") ||',
    "a name that starts with localhost counts as local"
  ),
  bookkeeping(
    "Ledger.summarize(yield* journal.ledger).total",
    "Ledger.nothing",
    "the costs of earlier sessions are forgotten"
  ),
  bookkeeping("yield* check(phase, need)", "", "work that does not fit is begun"),
  bookkeeping(
    "settled.map(({ cost, most }) => subtract(cost, most))",
    "settled.map(({ cost, most }) => subtract(most, cost))",
    "unused reservations count as spent"
  ),
  rollouts('["episode", ...stream, sample]', '["episode", ...stream]', "all samples of a group are the same"),
  rollouts(
    'const stream = ["verify", step, round, place]',
    'const stream = ["verify", step, round, name, place]',
    "candidates and parent use different random streams"
  ),
  rollouts("Trajectory.isFailed(trajectory) ? null :", "", "a rollout that failed counts as a score of 0"),
  train("if (hash !== command.batchHash)", "if (hash === null)", "an unplanned batch is trained"),
  rollouts(
    "Arr.take(data.validation, Schedule.validationQuestions)",
    "Arr.take(data.test, Schedule.validationQuestions)",
    "test questions choose the policy"
  ),
  checkpoints(
    "(yield* Ref.get(loaded)) === step",
    "(yield* Ref.get(loaded)) !== null",
    "the wrong policy is evaluated"
  ),
  value("const unknown = isWorst ? missing : 0", "const unknown = 0", "missing rewards are left out"),
  evidencePruning("(doubts.get(id) ?? 1) <= delta)\n", "(doubts.get(id) ?? 1) < 1)\n", "any evidence is enough"),
  evidencePruning("2 * latest.places", "latest.places", "a success brings no more newcomers"),
  evidencePruning("place === population.comparison.incumbent || ", "", "the incumbent makes room"),
  evidencePruning(
    '(origin === "seed" && (doubts.get(id) ?? 1) > delta)',
    "false",
    "the seed makes room without evidence"
  ),
  evidencePruning(".slice(Math.max(0, size - staying.size))", ".slice(0)", "more make room than newcomers need"),
  difference("const quantile = 1.96", "const quantile = 1", "the interval has 68 %"),
  comparison("Math.log1p(bet * (earned - high))", "bet * (earned - high)", "the evidence is no product of fair bets"),
  comparison(
    "bet * (earned - high)",
    "bet * (earned - own)",
    "a missing reward counts against the member that misses it"
  ),
  comparison("sign * (cells.length - 1)", "sign * cells.length", "the effects of blocks cost no degree of freedom"),
  comparison(
    "one - (shared * at(row, column)) / own",
    "one",
    "a member that leaves takes along what it showed about the others"
  ),
  comparison("squares -= level ** 2 / own", "", "the rewards of members that left count as noise"),
  comparison("newcomer: -0.02", "newcomer: 0.02", "newcomers are expected to be better"),
  comparison("1 / (2 * generation * (generation + 1))", "1 / 4", "every entry spends the same part of the risk"),
  comparison("size ** 2 - present ** 2 - against", "size", "the shares of the risk do not sum to 1"),
  comparison(
    "rows[row]?.[column] ?? one(row, column)",
    "one(row, column)",
    "all e-processes begin again with each entry"
  ),
  comparison("Math.min(most, Math.max(least, centre))", "least", "P(best) follows missing rewards"),
  blocks("piles[index % count]", "piles[index]", "groups of the most frequent instruction are lost"),
  blocks("known.groups < most ? 1 : (most - 1) / known.groups", "1", "waiting groups have no limit"),
  blocks(">= Math.max(2, members)", ">= 2", "two groups of a large population are a block"),
  blocks("byInstruction.length < 2", "byInstruction.length < 1", "a question of one instruction is a block"),
  blocks(
    "weight: 1 / (interaction + 1 / samples)",
    "weight: samples",
    "more samples of a question count without limit"
  ),
  batch("reward - (levels?.[instructionId] ?? 0)", "reward", "samples of weak instructions are pushed down"),
  batch("step.levels === undefined ? groups : sharedGroups", "groups", "shared groups are centred by instruction"),
  next(
    "sharesGroups(algorithm) ? Object.fromEntries(values",
    "!sharesGroups(algorithm) ? Object.fromEntries(values",
    "shared groups have no levels"
  ),
  schedule(
    "algorithm.verification.samples === 0 && step",
    "step < 0 && step",
    "untried candidates join after the last step"
  ),
  value('sum - count * Invariant.at(means, place, "mean")', "sum", "values are not at the level of the rewards"),
  value("high: (sum + unknown) / samples", "high: sum / samples", "missing rewards support a claim"),
  difference("least: mean - (missing[b] ?? 0)", "least: mean", "missing rewards show a difference"),
  concluding(
    "isComparable ? proven",
    "isComparable && !isProven ? proven",
    "the incumbent stays while it lives, however good another is"
  ),
  shares("isKnown ? seedShare / 4 : seedShare", "seedShare / 4", "the seed starves before anything is known"),
  leaseKinds("Math.min(1, probability * draws)", "probability", "a whole cohort states shares as propensities"),
  sampler(
    "probability: share.probability * draws }",
    "probability: share.probability }",
    "states shares as propensities"
  ),
  leasing("instructions > 1 ? archived.arms : []", "[]", "further leases of a closed cohort are forgotten"),
  archiveLookup(
    "isNamed ? State.leaseId(branch, cohort, key) : unnamedKey(branch, key)",
    "State.leaseId(branch, cohort, key)",
    "further leases of a cohort without a name are forgotten"
  ),
  servedEvidence(
    "first.some((question) => named.has(question))",
    "first.length > 0",
    "every second cohort repeats questions"
  ),
  shares("id === one ? floor :", "id === one ? held :", "the control has no floor"),
  shares("if (held <= cap) return shares", "if (held <= 1) return shares", "newcomers have no cap"),
  ending(
    "index === learning.population.step + 1",
    "index >= learning.population.step + 1",
    "a later cohort is folded first"
  ),
  folding("if (!joins && given.isCarried !== true) units++", "units++", "each turn of a conversation is a unit"),
  granting(
    "runOf(one.name) !== runOf(name)",
    "runOf(one.name) === runOf(name)",
    "what another training run left open stays open"
  ),
  leaseKinds('["lease", cohort, unitOf(request)]', '["lease", cohort]', "all units of a cohort are drawn alike"),
  rewarding(
    "(lease.samples[sample] ?? null) !== null ||",
    "lease.samples[sample] === 1 ||",
    "a repeated reward replaces the first"
  ),
  rewarding(
    'cohort.status === "complete" && archive',
    'cohort.status === "open" && archive',
    "a late reward is shown twice"
  ),
  leasing("[own, ...own.arms.flatMap(find)]", "[own]", "further leases of a closed whole cohort are forgotten"),
  ending("sum + n, 0) - abandoned", "sum + n, 0)", "unused leases count as missing rewards"),
  serverSecurity(
    'scope === "lease" || holder.scope',
    '"lease" === "lease" || holder.scope',
    "an agent's key has access to everything"
  ),
  serverApi('onExcessProperty: "error"', 'onExcessProperty: "ignore"', "unknown fields are ignored"),
  serverClock("? Horizon.sealsAt(state, cohort)", "? null", "an open cohort waits for a request to be sealed"),
  leaseIds("&& equal(code, codeOf(lease))", "", "the id of a lease can be computed from its key"),
  serverLeases("!rewinds.some(", "rewinds.some(", "a client that already got a rewind does not get a new one"),
  serverMembers("  if (known !== undefined) return known\n", "", "a text is added twice"),
  evolvingOf("        schedule: backoff,\n", "", "a failing proposer is called again at once"),
  preferences("(smoothing + asked) *", "asked *", "a clause that no failure asks for is never drawn"),
  preferences("? 0 : gain(clause)", "? 0 : -gain(clause)", "clauses whose carriers scored higher are drawn less often"),
  preferences("experienceFactor ** -merit", "experienceFactor ** merit", "the advice that does well is withdrawn"),
  preferences("isUntried(text) ? noveltyFactor", "!isUntried(text) ? noveltyFactor", "tried wordings are preferred"),
  drawing("[inAnyOrder(bank), asWritten]", "[asWritten]", "the same advice is proposed in another order"),
  drawing("...(tried ?? []), ", "", "texts that were tried are proposed again"),
  clauseEdit(
    "own.has(text)) && adviceWords",
    "true || own.has(text)) && adviceWords",
    "a combination can lack the parent's advice"
  ),
  ruleBased("Tried.betterHalf(history)", "history", "instructions with low scores are combined"),
  evidenceOf("if (fits([...kept, one])) kept", "kept", "what was tried exceeds its budget"),
  evidenceOf(".replace(historyTag, ", ".replace(/^$/u, ", "an instruction that was tried can close its block"),
  modelProposer("budget - countTokens(tried)", "budget", "failures and history together exceed the budget"),
  evolvingProposer(
    "challenger.gain > incumbent.gain",
    "challenger.gain >= incumbent.gain",
    "a method that gains no more wins"
  ),
  evolvingProposer("return writer\n", 'return "incumbent"\n', "the method in use always proposes first"),
  evolvingProposer("incumbent: fresh(incumbent.method)", "incumbent", "gains before a contest count in it"),
  evolvingProposer("Math.max(0, ...notebook", "Math.max(-1, ...notebook", "candidates that do not stay lower a gain"),
  evolvingProposer("text.length > longest", "false", "a method of any length takes the place of evidence"),
  lessons(
    "Arr.takeRight(Arr.dedupe([...texts.values(), ...added]), most)",
    "[...texts.values(), ...added]",
    "lessons pile up"
  ),
  lessons("numbers.some((number) => !texts.has(number))", "false", "a lesson that is not there is edited"),
  lessons("first.gain > 0 ?", "first.gain < 0 ?", "the worse instruction is called better"),
  notebook("{ notebook: { ...noted, outcomes: [] } }", "{}", "notes of unusable proposals are lost"),
  lessons("name !== undefined || ", "", "a whole prompt is compared with one of its texts"),
  lessons("pair === null || answer === null", "answer === null", "lessons are edited where nothing differed"),
  notebook("mean - parentMean", "parentMean - mean", "a gain is a loss"),
  notebook("notebook.outcomes !== null", "false", "outcomes of a proposal without notes are those of the last one"),
  notebook(" || member.lifetime.trajectories === 0", "", "a newcomer gains what the prior says"),
  notebook("gain: gain ?? gainOf(text)", "gain: gain ?? 0", "candidates that entered untried gain nothing"),
  evidenceOf("plainRole(role)", "role", "unknown roles are shown unchanged"),
  retention(
    "const before = closedBefore(retention)",
    "const before = minute(now - retention)",
    "leases of open cohorts are dropped by age"
  ),
  retention(
    "[kinds.leaseDetails, kinds.rewardDetails, kinds.scored]",
    "[kinds.rewardDetails, kinds.scored]",
    "questions are not deleted"
  ),
  auxiliaryRecords("    first.delete(key)\n", "", "the details of a repeated request are stored"),
  rewarding("isSuperseded: !counts", "isSuperseded: false", "a branch that was left continues"),
  archive("(index === 0 ? upTo === Infinity : index <= upTo)", "(index >= 0)", "a rewind leaves its cohorts closed"),
  outbox("Math.min(sending, queue.length - 1)", "0", "drops rewards that are being sent"),
  outbox("/^4(?!01|03|29)/u : /^4(?!08|25|29)/u", "/^4/u : /^4/u", "drops rewards that a busy server postpones"),
  outbox("if (asked > 0) return", "if (asked < 0) return", "ignores a server's request to wait"),
  outbox(
    'queue[count]?.kind === "close" && count < size',
    'queue[count]?.kind === "close"',
    "a refused close holds back rewards"
  ),
  aiSdk(
    "        await failed(params)\n        throw error\n      }\n    },\n    wrapStream",
    "        throw error\n      }\n    },\n    wrapStream",
    "a failed call leaves its lease open"
  ),
  aiSdk("forget(lease.id)", "", "a call that is made again loses its reward"),
  transport("if (isFinal(last)) break", "break", "after a busy server the others are not asked"),
  transport(" / (urls.length - turn)", "", "a server that hangs uses the time of the next"),
  transport("if (!again || ", "if (again || ", "a connection that was closed meanwhile costs a lease"),
  inspo("if (isUsable(await asking)) return", "", "gives back a lease of another server"),
  inspo("requests.every(({ key }) => !key)", "true", "a late answer ends a conversation"),
  standby("where === address ? null : where", "null", "a standby does not know the active server"),
  register("        populations.delete(entry.name)\n", "", "a removed population is still named"),
  nodeSqlite(
    "broken = Effect.fail(failure)",
    "broken = Effect.void",
    "continues although the disk may not hold the data"
  ),
  commit("sizeUnsafe(waiting) > known", "sizeUnsafe(waiting) < known", "the first of many commands is committed alone"),
  inspo("result.retryAfter > 0", "result.retryAfter < 0", "requests leases that a busy server postpones"),
  dollarBudget("left > 0 && left >= reserved", "left > 0", "calls in flight pass the budget in US dollars together"),
  scorers("value > 10", "value > 100", "a verdict beyond the scale is a score above 1"),
  candidateLint("Math.max(2, share", "Math.max(0, share", "every answer counts as common"),
  candidateLint(
    "transcript.map(({ content }) => content)",
    "transcript.slice(1).map(({ content }) => content)",
    "the first turn of a client is trusted"
  ),
  leak("words.length > 1 ? ", "words.length > 99 ? ", "U.S. is not recognised as an answer"),
  commit("if (batch.length > 1) {", "if (batch.length > 1e9) {", "a defect fails the commands beside it"),
  granting("requireRoom(state, fresh)", "requireRoom(state, [])", "the open leases have no limit"),
  runStudy("further.length > 0 && !seeds", "further.length < 0 && !seeds", "arms of a study are left out silently"),
  evolutionStatus("usd === 0 && own.some", "usd < 0 && own.some", "a model without a price costs nothing"),
  serverEvolving(
    'failure._tag === "UnknownPrice"',
    'failure._tag !== "UnknownPrice"',
    "a server names the keys of a run where a price is missing"
  ),
  evolving(
    'selection.parent === "random"',
    'selection.parent !== "random"',
    "the paper's rounds take turns over the parents"
  ),
  verifying(
    'baseline !== "shared"',
    'baseline === "shared"',
    "a record is compared with questions that it does not cover"
  ),
  halving("rule.quota ?? Math.floor(size / 2)", "Math.floor(size / 2)", "a fixed half is half of the present members"),
  buffer("shuffle(Arr.dedupe(", "shuffle((", "a subset names a question twice"),
  upstreamPath(
    'segments?.[0] === "populations"',
    "segments === null",
    "passes on requests for populations, with their key"
  ),
  conversation(
    "recorder.asideTokens += asked.prompt.length",
    "recorder.asideTokens += 0",
    "the tokens of a condensation are not counted"
  ),
  ownEngine("request.prompt.length === 0 || room", "room", "the documented engine accepts an empty prompt"),
  localWorker("const ready = prepare()", "const ready = await prepare()", "Deno loses the first task of a worker"),
  tinkerRouting("Effect.void : server.skip(value)", "Effect.void : Effect.void", "a refused request blocks the next"),
  malformed(
    'case "InvalidType":\n      return one(nameOf(issue.ast))',
    'case "InvalidType":\n      return one(formatted(issue).issues[0]?.message ?? "")',
    "a response repeats texts of its request"
  ),
  snapshot(
    "return Math.min(most, Math.max(least, sum / reported))",
    "return sum / reported",
    "a mean is outside its interval"
  ),
  snapshot('if (phase === "train")\n', 'if (phase === "validation")\n', "rewards of open cohorts are not shown"),
  losses(
    "more.interval.lower > less.interval.upper",
    "more.share > less.share",
    "chance is shown as a difference of missing rewards"
  ),
  concluding(
    "proven.includes(id) || better.includes(id)",
    "better.includes(id)",
    "which members were better is forgotten when the seed leaves"
  ),
  concluding("return Losses.ofFailures(state) === null", "return true", "failures of bad samples prune a member"),
  ending("isCarried !== true", "isCarried !== undefined || true", "later turns of a conversation are evidence again"),
  leaseKinds(
    "archive.sticky(state.branch, unitOf(request))",
    'archive.sticky(state.branch, "")',
    "a conversation changes its instruction"
  ),
  marker('prompt.lastIndexOf("}}")', "Infinity", "markers without an end take quadratic time"),
  leaseIds("equal(code, codeOf(lease)) ? lease", "code !== '' ? lease", "the id of a lease can be forged"),
  places("fits(own, bytes, 0.5)", "fits(own, bytes, 1)", "one client takes all places"),
  keyRate("undefined ? 0 : Limits.bodyBytes", "undefined ? 0 : 0", "bodies of unknown length are free"),
  serverSecurity("? Effect.exit(request.arrayBuffer)", "? Effect.void", "uploads that stall take places"),
  serverSecurity("Credentials.isHashed(text, sha256)", "text !== sha256", "any text is a named key"),
  direct("if (body !== null) request.unshift(body)", "", "a request that is not answered directly has no body"),
  direct('holderOf(gate.keys, Credentials.bearerOf(authorization) ?? "")', '{ scope: "lease" }', "any key has access"),
  plainRequests(" && value.isWellFormed()", "", "a lone surrogate is a name, if it comes the direct way"),
  plainRequests(
    "!Object.hasOwn(fields, name) || fields",
    "Object.hasOwn(fields, name) && fields",
    "unknown fields are left out"
  ),
  sampleRatio("* factor(instruction)) / mean", "* factor(instruction))", "chance raises the alarm of the sample ratio"),
  pausing(
    "id === learning.seed ? null : brokenIn",
    "brokenIn",
    "the seed is paused, and nothing is left to compare with"
  ),
  shares("step - bornAt", "0", "a ramp stays at its first share"),
  flagStratum("...segment }]", "}]", "flags pool the strata of their contexts"),
  pausing("leased.length < 2", "leased.length < 1", "no member is left that is leased"),
  guardrails("risk / guardrails.length", "1", "guardrails that are kept count as broken"),
  constraints("value > bound ? 1 : 0", "value >= bound ? 0 : 1", "a share counts what is below its bound"),
  constraints("Math.round(Math.min", "Number(Math.min", "sums of numbers depend on their order"),
  seedOnly('phase: "validation"', 'phase: "train"', "leases after the switch to the seed are drawn, and evidence"),
  seedOnly("instruction: seed,", "instruction,", "a known lease keeps its instruction after the switch to the seed"),
  seedOnly(
    'value: "abandoned" as const',
    "value: 0 as const",
    "work under the seed is evidence on another instruction"
  ),
  handling(
    "usesSeed === true && !state.usesSeed",
    "(usesSeed === true) !== state.usesSeed",
    "freezing ends the switch to the seed"
  ),
  handling("isSwitched ? state.cohorts.filter", "isFrozen ? state.cohorts.filter", "a cohort measures two incumbents"),
  sampleRatio("(freed + (1", "(0 + (1", "bets on an instruction are lost as it leaves"),
  sampleRatio("isGiven ? 1 + more", "isGiven ? 1 + 2 * more", "a bet gains when shares are as they should be"),
  sampleRatio("const memory = 0.9995", "const memory = 0", "the sample ratio has no memory"),
  inFile("packages/statistics/src/PredictionPowered.ts")(
    "weightOf(halves[1 - half] ?? []",
    "weightOf(halves[half] ?? []",
    "labels decide the weight that they are corrected by"
  ),
  inFile("packages/statistics/src/PredictionPowered.ts")(
    "(weights[at % 2] ?? 0) * (judged - predicted)",
    "(judged - predicted)",
    "a judge that says nothing counts in full"
  ),
  inFile("packages/evolve/src/Judged.ts")(
    "stream\n    .shuffle(Sessions.group(sessions, whole, ([first]) => first.case))",
    "Sessions.group(sessions, whole, ([first]) => first.case)",
    "the first cases are labelled"
  ),
  inFile("packages/evolve/src/Evidence.ts")(
    "Sessions.group(sessions, all, ({ index }) => index).map((own) => ({",
    "Sessions.group([], all, ({ index }) => index).map((own) => ({",
    "cases of one session count as independent"
  ),
  serverMalformed("const deepestValue = 32", "const deepestValue = 1e9", "JSON of great depth fails the server"),
  clientPermits("makeUnsafe(permits / 2)", "makeUnsafe(permits)", "one client holds all permits"),
  upload("now - before < leastRate * stallSeconds", "now < before", "uploads that stall are never ended"),
  journalSqlite("busy === 0", "busy >= 0", "texts kept by a reader count as deleted"),
  journalSqlite('"wx", 0o600', '"wx", 0o644', "all users of the machine can read a journal"),
  wire(
    "n === requestOf(key)?.n",
    "n >= (requestOf(key)?.n ?? 0)",
    "the number of samples in a response is not checked"
  ),
  leaseKinds(
    "first === undefined ? {} : { replaces: first.instruction }",
    "{}",
    "a conversation changes its instruction without reporting it"
  ),
  retention("closedBefore(sticky)", "closedBefore(retention ?? sticky)", "a sticky key is kept as long as texts"),
  horizon("slack * Math.max(...waits)", "slack * Math.min(...waits)", "a horizon fits only the fastest rewards"),
  comparison(
    "missing.some((share) => share > 0) ? alike(shown, shrunken(comparison, shown, missing)) : shown",
    "shown",
    "shares depend on missing rewards"
  ),
  snapshot("if (isCarried === true) continue", "", "later turns of a conversation are shown as evidence"),
  upstreamPath(
    'if (segments?.[0] === "populations") return null',
    "if (!hasPrompts(path)) return null",
    "models are not passed on"
  )
]
