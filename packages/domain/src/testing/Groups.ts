/** Groups as rollouts make them: every list has an entry for each trajectory. */
import { Arbitrary, Array as Arr, Schema } from "effect"
import * as Group from "../Group.ts"
import { Reward, TrajectoryId } from "../Trajectory.ts"

const Count = Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 1000 }))

const Sample = Schema.Struct({ reward: Reward, trajectory: TrajectoryId, toolCalls: Count, responseTokens: Count })

const Drawn = Schema.Struct({
  instructionId: Group.Group.fields.instructionId,
  questionId: Group.Group.fields.questionId,
  dataSource: Group.Group.fields.dataSource,
  promptTokens: Count,
  samples: Schema.NonEmptyArray(Sample).check(Schema.isMaxLength(8))
})

/** Groups of up to eight trajectories. The schema of a group hardly ever generates lists of equal lengths by itself. */
export const arbitrary: Arbitrary.Arbitrary<Group.Group> = Arbitrary.map(
  Arbitrary.schema(Drawn),
  ({ samples, ...group }) => ({
    ...group,
    // Plus 0, since -0 becomes 0 in JSON.
    rewards: Arr.map(samples, ({ reward }) => reward + 0),
    trajectories: Arr.map(samples, ({ trajectory }) => trajectory),
    toolCalls: Arr.map(samples, ({ toolCalls }) => toolCalls),
    responseTokens: Arr.map(samples, ({ responseTokens }) => responseTokens)
  })
)
