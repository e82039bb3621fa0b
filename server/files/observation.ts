import { FsError, type FsHooks, type Target, type Version } from './fs.ts'

type Seen = { at: Version } | 'absent'

/**
 * A session may replace only what it has seen, at the version it has seen. A file it has not seen it may create
 * (which never clobbers) but not edit or overwrite. Calls without a session are not judged.
 */
export interface Observation {
  hooks: FsHooks
  /** Drops what a session has seen, when its agent is gone. */
  forget(session: string): void
}

const changed = (target: Target): FsError =>
  new FsError('FS_STALE_VERSION', `${target.path} changed since you last read it. Read it again before changing it.`)

export function createObservation(): Observation {
  const sessions = new Map<string, Map<string, Seen>>()
  const seenBy = (session: string, target: Target): Seen | undefined => sessions.get(session)?.get(target.key)

  return {
    forget(session) {
      sessions.delete(session)
    },
    hooks: {
      beforeWrite({ target, intent, session }) {
        if (session === undefined || intent.kind === 'createIfAbsent') return
        const seen = seenBy(session, target)
        if (seen === undefined)
          throw new FsError(
            'FS_EXISTS',
            `${target.path} already exists and you have not read it, so it can only be created. Read it first, then write or edit it.`,
          )
        if (seen === 'absent' || seen.at !== intent.version) throw changed(target)
      },
      beforeEdit({ target, version, session }) {
        if (session === undefined) return
        const seen = seenBy(session, target)
        if (seen === undefined)
          throw new FsError(
            'FS_NOT_OBSERVED',
            `${target.path} has not been read in this session. Read it first, then edit it.`,
          )
        if (seen === 'absent' || seen.at !== version) throw changed(target)
      },
      observed({ target, version, session }) {
        if (session === undefined) return
        const seen = sessions.get(session) ?? new Map<string, Seen>()
        sessions.set(session, seen)
        seen.set(target.key, version === undefined ? 'absent' : { at: version })
      },
    },
  }
}
