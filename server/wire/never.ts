/** Ends a switch over a union: a new member without a branch fails to compile, and throws if it arrives from outside. */
export function never(value: never): never {
  throw new Error(`unexpected value: ${JSON.stringify(value)}`)
}
