import { Command } from 'cmdk'
import {
  BellDot,
  ChartColumn,
  Contrast,
  Copy,
  Cpu,
  Download,
  FileText,
  FileUp,
  FolderOpen,
  GitFork,
  Info,
  Keyboard,
  Layers,
  MessageSquare,
  Moon,
  PanelLeft,
  Pencil,
  Plus,
  Search,
  Shield,
  StarOff,
  Sun,
} from 'lucide-react'
import { useState } from 'react'
import { ImeGuard } from '../composer/ime.ts'
import { useT } from '../i18n/i18n.ts'
import { navigate } from '../router.ts'
import { openOverlay, useApp } from '../store/store.ts'
import { Keys } from '../ui/button.tsx'
import { Modal } from '../ui/pop.tsx'
import { STATUS_KEYS } from '../rail/session-line.tsx'
import { commands } from './commands.ts'
import type { CommandId } from './commands.ts'

const ICONS: Record<CommandId, typeof Plus> = {
  new: Plus,
  needs: BellDot,
  folder: FolderOpen,
  rail: PanelLeft,
  presets: Layers,
  'new-preset': Plus,
  'import-preset': FileUp,
  'edit-preset': Pencil,
  'copy-preset': Copy,
  'export-preset': Download,
  'default-preset': StarOff,
  prompt: FileText,
  'fork-preset': GitFork,
  usage: ChartColumn,
  models: Cpu,
  sessions: MessageSquare,
  permissions: Shield,
  appearance: Contrast,
  about: Info,
  light: Sun,
  dark: Moon,
  system: Contrast,
  shortcuts: Keyboard,
}

export function Palette() {
  const t = useT()
  const rows = useApp((app) => app.rows)
  const [ime] = useState(() => new ImeGuard())
  const close = () => openOverlay(undefined)
  const sessions = Object.values(rows).sort((a, b) => b.updated - a.updated)
  return (
    <Modal hideTitle title={t('palette')} onClose={close}>
      <Command label={t('palette')} loop style={{ display: 'flex', flexDirection: 'column', minHeight: 0 }}>
        <div
          className="palette-input"
          onKeyDownCapture={(event) => {
            if (event.key === 'Enter' && ime.owns(event)) event.stopPropagation()
          }}
        >
          <Search size={16} />
          <Command.Input
            autoFocus
            placeholder={t('palette.ask')}
            onCompositionStart={ime.start}
            onCompositionEnd={ime.end}
          />
          <kbd>Esc</kbd>
        </div>
        <Command.List>
          <Command.Empty>{t('palette.none')}</Command.Empty>
          <Command.Group heading={t('palette.actions')}>
            {commands().map((command) => {
              const Icon = ICONS[command.id]
              return (
                <Command.Item
                  key={command.id}
                  value={`${command.label} ${command.id}`}
                  onSelect={() => {
                    close()
                    command.run()
                  }}
                >
                  <Icon size={16} />
                  {command.label}
                  <span className="right">{command.keys && <Keys keys={command.keys} />}</span>
                </Command.Item>
              )
            })}
          </Command.Group>
          <Command.Group heading={t('palette.sessions')}>
            {sessions.slice(0, 100).map((row) => (
              <Command.Item
                key={row.id}
                value={`${row.title || t('untitled')} ${row.id}`}
                onSelect={() => {
                  close()
                  navigate({ place: 'session', id: row.id })
                }}
              >
                <MessageSquare size={16} />
                <span className="trunc">{row.title || t('untitled')}</span>
                <span className="t3 trunc">
                  {[row.cwd?.split('/').at(-1), t(STATUS_KEYS[row.status])].filter(Boolean).join(', ')}
                </span>
              </Command.Item>
            ))}
          </Command.Group>
        </Command.List>
      </Command>
    </Modal>
  )
}
