const tails = new Map<string, Promise<unknown>>()

/**
 * Runs `work` after every earlier work on `key` has ended. One table for the process, whatever the provider: two
 * sessions editing one file must not both pass the version check before either has written.
 */
export function serialised<T>(key: string, work: () => Promise<T>): Promise<T> {
  const before = tails.get(key) ?? Promise.resolve()
  const run = before.then(work, work)
  const tail = run.catch(() => undefined) // the failure belongs to its own caller, not to the next in line
  tails.set(key, tail)
  void tail.then(() => {
    if (tails.get(key) === tail) tails.delete(key)
  })
  return run
}
