import { Context } from "effect"

/** Whether `--trust` was given: the user consents to what the directories of this command name. */
export const TrustFlag = Context.Reference<boolean>("@inspo/cli/runDirectory/TrustFlag", { defaultValue: () => false })
