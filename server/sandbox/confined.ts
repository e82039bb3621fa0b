/** Where a command is to run. Paths as the command sees them. */
export interface Place {
  cwd: string
  /** Directory that has to be readable and writable inside. */
  control?: string
}

/** What a policy makes of a command line: run it as it is, run it wrapped, or do not run it. */
export type Confined =
  | { kind: 'bare' }
  /** `files`: a folder that commands may write, as they see it and where it lies; for what the host has to hand them. */
  | { kind: 'sandboxed'; argv: string[]; files?: { shown: string; real: string } }
  /** `reason` is for the model and the person: what is missing and how to get it. */
  | { kind: 'refused'; code: 'SANDBOX_UNAVAILABLE' | 'COMMAND_NOT_STARTED'; reason: string }

export type Confine = (argv: string[], place: Place) => Confined | Promise<Confined>
