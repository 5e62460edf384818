/** The registry of losses: a new one is a file in `losses`, and a line here. */
import { cispo } from "./losses/Cispo.ts"
import { clip } from "./losses/Clip.ts"
import { clipTrajectory, clipTurn } from "./losses/ClipRun.ts"
import { dppoTv } from "./losses/DppoTv.ts"
import { dro } from "./losses/Dro.ts"
import { fipo } from "./losses/Fipo.ts"
import { gmpo } from "./losses/Gmpo.ts"
import { gspo } from "./losses/Gspo.ts"
import { icpo } from "./losses/Icpo.ts"
import { importanceSampling } from "./losses/ImportanceSampling.ts"
import { luspo } from "./losses/Luspo.ts"
import { ratioVariance } from "./losses/RatioVariance.ts"
import { reinforce } from "./losses/Reinforce.ts"
import { sapo } from "./losses/Sapo.ts"
import { topr } from "./losses/Topr.ts"
import { truncated } from "./losses/Truncated.ts"
import { vespo } from "./losses/Vespo.ts"

export type { Sequence, Surrogate, Token } from "./Surrogate.ts"

/** Every loss, the clipped surrogate first. */
export const losses = [
  clip,
  clipTurn,
  clipTrajectory,
  importanceSampling,
  reinforce,
  cispo,
  gspo,
  luspo,
  gmpo,
  sapo,
  dppoTv,
  vespo,
  topr,
  truncated,
  dro,
  fipo,
  ratioVariance,
  icpo
] as const
