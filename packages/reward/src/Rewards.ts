/** The registry of rewards: a new one is a file in `kinds`, and a line here. */
import { command } from "./kinds/Command.ts"
import { emFormat } from "./kinds/EmFormat.ts"
import { judge } from "./kinds/Judge.ts"
import { em, f1, subem } from "./kinds/Measured.ts"
import type { RewardKind } from "./RewardKind.ts"

export { fromMeasure } from "./kinds/Measured.ts"
export { extract } from "./Scope.ts"

/** The rewards that need nothing but the attempt. */
export const builtIn = { em, subem, "em-format": emFormat, f1 }

/** The rewards that a config can name. */
export const kinds = [...Object.values(builtIn), judge, command] as const satisfies ReadonlyArray<RewardKind>
