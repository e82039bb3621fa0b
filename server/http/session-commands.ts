import type { CommandName } from '../wire/commands.ts'
import type { Selection } from '../wire/messages.ts'
import type { Sessions } from '../session/sessions.ts'
import type { Handler } from './commands.ts'
import { tooMany, type Limits } from './limits.ts'

type Names = Extract<CommandName, `session.${string}` | `queue.${string}` | 'preset.select' | 'model.select'>

type Picked = <R extends { default?: { saved: boolean } }>(pick: Selection | undefined, result: R) => R

/** A client may count its commands; only an id that is unique everywhere may name what it made. */
const uniqueOf = (id: string): string | undefined =>
  /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(id) ? id : undefined

/** Throws `gateway/too-many-requests` where there is none. */
export interface SessionRoom {
  forSession(): void
  forPrompt(session: string): void
}

export function sessionRoom(
  sessions: Sessions,
  running: () => number,
  limits: Pick<Limits, 'sessions' | 'queue'>,
): SessionRoom {
  return {
    forSession() {
      if (running() >= limits.sessions)
        throw tooMany(`${limits.sessions} sessions are open on this server. Delete or archive some, or restart it.`)
    },
    forPrompt(id) {
      const inbox = sessions.live(id)?.state().inbox
      const waiting = inbox ? inbox['next-turn'].length + inbox['next-step'].length : 0
      if (waiting >= limits.queue)
        throw tooMany(`${limits.queue} prompts wait in this session already. Take some out of the queue, or wait.`)
    },
  }
}

/** What a person does in and with one session. */
export const sessionHandlers = (
  sessions: Sessions,
  picked: Picked,
  room: SessionRoom,
): { [N in Names]: Handler<N> } => ({
  'session.create': async (args, id) => {
    room.forSession()
    return picked(args.selection, await sessions.create(args, uniqueOf(id)))
  },
  'session.prompt': ({ session, text, mode }, id) => {
    room.forPrompt(session)
    return sessions.prompt(session, text, mode, uniqueOf(id))
  },
  'session.stop': ({ session }) => sessions.stop(session),
  'session.rename': ({ session, title }) => sessions.rename(session, title),
  'session.pin': async ({ session, pinned }) => {
    await sessions.mark(session, { pinned })
    return { pinned }
  },
  'session.archive': async ({ session, archived }) => {
    await sessions.mark(session, { archived })
    return { archived }
  },
  'session.delete': ({ session }) => sessions.remove(session),
  'session.restore': ({ session }) => sessions.restore(session),
  'session.fork': ({ session, ...options }) => {
    room.forSession()
    return sessions.fork(session, options)
  },
  'session.fork-check': ({ session, ...options }) => sessions.forkCheck(session, options),
  'session.budget': ({ session, limit }) => sessions.setBudget(session, limit),
  'queue.edit': ({ session, message, text }) => sessions.editQueued(session, message, text),
  'queue.remove': ({ session, message }) => sessions.removeQueued(session, message),
  'queue.send-now': ({ session, message }) => sessions.sendQueuedNow(session, message),
  'preset.select': ({ session, preset }) => sessions.selectPreset(session, preset),
  'model.select': async ({ session, alsoDefault, ...selection }) =>
    picked(selection, await sessions.selectModel(session, selection, alsoDefault)),
})
