import { useT } from '../i18n/i18n.ts'
import type { Key } from '../i18n/i18n.ts'
import { openOverlay } from '../store/store.ts'
import { Keys } from '../ui/button.tsx'
import { MOD } from '../ui/hooks.ts'
import { Modal } from '../ui/pop.tsx'

const GROUPS: [Key, [Key, string[]][]][] = [
  [
    'keys.anywhere',
    [
      ['palette', [MOD, 'K']],
      ['rail.new', ['N']],
      ['cmd.needsYou', ['G', 'N']],
      ['rail.toggle', ['[']],
      ['shortcuts', ['?']],
    ],
  ],
  [
    'keys.rail',
    [
      ['keys.move', ['↑', '↓']],
      ['keys.open', ['Enter']],
    ],
  ],
  [
    'keys.composer',
    [
      ['keys.send', ['Enter']],
      ['keys.other', [MOD, 'Enter']],
      ['keys.break', ['Shift', 'Enter']],
      ['keys.stop', ['Esc']],
    ],
  ],
]

export function Shortcuts() {
  const t = useT()
  return (
    <Modal title={t('shortcuts')} onClose={() => openOverlay(undefined)}>
      <div className="shortcuts">
        {GROUPS.map(([title, keys]) => (
          <section key={title}>
            <h3>{t(title)}</h3>
            {keys.map(([label, combination]) => (
              <div key={label}>
                {t(label)}
                <Keys keys={combination} />
              </div>
            ))}
          </section>
        ))}
      </div>
    </Modal>
  )
}
