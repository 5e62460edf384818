/** Flags of many commands, which the code below a command asks for itself. */
import { Context } from "effect"

/** Whether `--json` was given: a command prints one document on standard output, and everything else on standard error. */
export const JsonFlag = Context.Reference<boolean>("@inspo/cli/JsonFlag", { defaultValue: () => false })

/** Whether `--trust` was given: the user consents to what the directories of this command name. */
export const TrustFlag = Context.Reference<boolean>("@inspo/cli/TrustFlag", { defaultValue: () => false })
