import { X } from 'lucide-react'
import { Dialog, DropdownMenu, Popover } from 'radix-ui'
import { useRef } from 'react'
import type { ReactNode } from 'react'
import { useT } from '../i18n/i18n.ts'
import { IconButton } from './button.tsx'
import { usePhone } from './hooks.ts'

interface PopProps {
  open: boolean
  onOpenChange(open: boolean): void
  title: string
  trigger: ReactNode
  width?: number
  children: ReactNode
}

/** A popover; on a phone the same content is a sheet. */
export function Pop({ open, onOpenChange, title, trigger, width = 360, children }: PopProps) {
  const phone = usePhone()
  if (phone)
    return (
      <Dialog.Root open={open} onOpenChange={onOpenChange}>
        <Dialog.Trigger asChild>{trigger}</Dialog.Trigger>
        <Sheet title={title}>{children}</Sheet>
      </Dialog.Root>
    )
  return (
    <Popover.Root open={open} onOpenChange={onOpenChange}>
      <Popover.Trigger asChild>{trigger}</Popover.Trigger>
      <Popover.Portal>
        <Popover.Content
          className="pop"
          style={{ width }}
          align="start"
          sideOffset={6}
          collisionPadding={12}
          aria-label={title}
        >
          {children}
        </Popover.Content>
      </Popover.Portal>
    </Popover.Root>
  )
}

function Sheet({ title, children }: { title: string; children: ReactNode }) {
  const t = useT()
  return (
    <Dialog.Portal>
      <Dialog.Overlay className="scrim" />
      <Dialog.Content className="sheet" aria-describedby={undefined}>
        <div className="grab" />
        <div className="dialog-head">
          <Dialog.Title asChild>
            <h2>{title}</h2>
          </Dialog.Title>
          <Dialog.Close asChild>
            <IconButton bare look="right" label={t('close')}>
              <X size={18} />
            </IconButton>
          </Dialog.Close>
        </div>
        {children}
      </Dialog.Content>
    </Dialog.Portal>
  )
}

interface ModalProps {
  title: string
  hideTitle?: boolean
  wide?: boolean
  onClose(): void
  children: ReactNode
}

export function Modal({ title, hideTitle, wide, onClose, children }: ModalProps) {
  const t = useT()
  const phone = usePhone()
  return (
    <Dialog.Root open onOpenChange={(open) => open || onClose()}>
      {phone && !hideTitle ? (
        <Sheet title={title}>{children}</Sheet>
      ) : (
        <Dialog.Portal>
          <Dialog.Overlay className="scrim" />
          <Dialog.Content className={`dialog ${wide ? 'wide' : ''}`} aria-describedby={undefined}>
            <div className={hideTitle ? 'sr' : 'dialog-head'}>
              <Dialog.Title asChild>
                <h2>{title}</h2>
              </Dialog.Title>
              {!hideTitle && (
                <Dialog.Close asChild>
                  <IconButton bare look="right" label={t('close')}>
                    <X size={16} />
                  </IconButton>
                </Dialog.Close>
              )}
            </div>
            {children}
          </Dialog.Content>
        </Dialog.Portal>
      )}
    </Dialog.Root>
  )
}

export interface MenuEntry {
  label: string
  icon: ReactNode
  danger?: boolean
  /** It puts the focus somewhere by itself: the menu does not take it back to its button. */
  movesFocus?: boolean
  run(): void
}

/** `null` in `entries` draws a line. */
export function Menu({ trigger, entries }: { trigger: ReactNode; entries: readonly (MenuEntry | null)[] }) {
  const moved = useRef(false)
  return (
    <DropdownMenu.Root>
      <DropdownMenu.Trigger asChild>{trigger}</DropdownMenu.Trigger>
      <DropdownMenu.Portal>
        <DropdownMenu.Content
          className="menu"
          align="end"
          sideOffset={4}
          collisionPadding={8}
          onCloseAutoFocus={(event) => {
            if (moved.current) event.preventDefault()
            moved.current = false
          }}
        >
          {entries.map((entry, index) =>
            entry === null ? (
              <DropdownMenu.Separator key={index} className="menu-line" />
            ) : (
              <DropdownMenu.Item
                key={entry.label}
                className={`menu-item ${entry.danger ? 'danger' : ''}`}
                onSelect={() => {
                  moved.current = entry.movesFocus ?? false
                  entry.run()
                }}
              >
                {entry.icon}
                {entry.label}
              </DropdownMenu.Item>
            ),
          )}
        </DropdownMenu.Content>
      </DropdownMenu.Portal>
    </DropdownMenu.Root>
  )
}
