import { useVirtualizer } from '@tanstack/react-virtual'
import { Copy, ExternalLink } from 'lucide-react'
import { useMemo, useRef } from 'react'
import { thousands } from '../i18n/format.ts'
import { useT } from '../i18n/i18n.ts'
import { Button } from '../ui/button.tsx'
import { Modal } from '../ui/pop.tsx'
import { copyText } from '../ui/problems.tsx'
import { parseSgr } from './sgr.ts'

const LINE = 18

/** A long text by lines: only those in view are in the page, however long it is. */
export function FullText({ title, text, onClose }: { title: string; text: string; onClose(): void }) {
  const t = useT()
  const plain = useMemo(
    () =>
      parseSgr(text)
        .map((run) => run.text)
        .join(''),
    [text],
  )
  const lines = useMemo(() => plain.split('\n'), [plain])
  const scroller = useRef<HTMLDivElement>(null)
  // The page is not compiled by the React compiler, which this library does not suit.
  // oxlint-disable-next-line react/incompatible-library
  const list = useVirtualizer({
    count: lines.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => LINE,
    overscan: 20,
  })
  const openRaw = () => {
    const url = URL.createObjectURL(new Blob([plain], { type: 'text/plain;charset=utf-8' }))
    window.open(url, '_blank', 'noopener')
    setTimeout(() => URL.revokeObjectURL(url), 60_000)
  }
  return (
    <Modal wide title={title} onClose={onClose}>
      <div
        ref={scroller}
        className="mono"
        style={{
          overflow: 'auto',
          flex: 1,
          minHeight: 240,
          height: '60vh',
          background: 'var(--sunken)',
          borderTop: '1px solid var(--line)',
        }}
        tabIndex={0}
      >
        <div style={{ height: list.getTotalSize() + 16, position: 'relative', minWidth: 'max-content' }}>
          {list.getVirtualItems().map((row) => (
            <div
              key={row.key}
              style={{
                position: 'absolute',
                top: row.start + 8,
                left: 16,
                height: LINE,
                whiteSpace: 'pre',
                paddingRight: 16,
              }}
            >
              {(lines[row.index] ?? '').slice(0, 5000)}
            </div>
          ))}
        </div>
      </div>
      <div className="dialog-foot">
        <span className="t3 t12">{t('full.lines', { n: lines.length, text: thousands(lines.length) })}</span>
        <span className="right" />
        <Button onClick={openRaw}>
          <ExternalLink size={14} />
          {t('full.raw')}
        </Button>
        <Button onClick={() => void copyText(plain)}>
          <Copy size={14} />
          {t('copy')}
        </Button>
      </div>
    </Modal>
  )
}
