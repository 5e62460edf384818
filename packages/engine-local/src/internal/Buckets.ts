/** The lengths that programs are built for: few, since a program costs time and memory, yet seldom much too long. */
export const bucket = (length: number): number => lengths.find((limit) => length <= limit) ?? roundUp(length, 128)

const lengths = [16, 32, 48, 64, 80, 96, 112, 128, 160, 192, 256]

const roundUp = (length: number, step: number): number => Math.ceil(length / step) * step
