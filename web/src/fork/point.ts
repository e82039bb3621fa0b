import { useT } from '../i18n/i18n.ts'
import { useApp } from '../store/store.ts'

const FIRST_WORDS = 80

/** Says in words where a fork is made. */
export function usePoint(session: string, seq: number | undefined): string {
  const t = useT()
  const view = useApp((app) => app.sessions[session])
  if (view?.kind !== 'open') return t('fork.atLatest')
  if (seq === undefined) {
    const turn = view.state.openTurn ? view.state.openTurn.turn - 1 : view.state.lastTurn
    return turn > 0 ? t('fork.atTurn', { turn }) : t('fork.atLatest')
  }
  const item = view.transcript.items.find((each) => each.seq === seq)
  if (item?.kind === 'footer') return t('fork.atTurn', { turn: item.turn })
  if (item?.kind === 'user' || item?.kind === 'text')
    return t('fork.atMessage', { words: item.text.replaceAll(/\s+/g, ' ').trim().slice(0, FIRST_WORDS) })
  return t('fork.atEvent', { seq })
}
