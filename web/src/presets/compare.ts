import type { DryRun, OwnedTool, SectionView } from '../../../server/wire/presets.ts'
import { promptHunk } from '../new-session/prompt-diff.ts'
import type { Hunk } from '../transcript/diff-lines.ts'

/** Unchanged lines kept around a change. */
const AROUND = 3

/** Line diff with only the surroundings of each change. Empty for equal texts. */
export function textHunks(before: string, after: string): Hunk[] {
  if (before === after) return []
  const { lines } = promptHunk(before, after)
  const near = nearChanges(lines)
  const hunks: Hunk[] = []
  let [old, now] = [1, 1]
  let open: Hunk | undefined
  lines.forEach((line, index) => {
    if (near[index]) {
      if (!open) hunks.push((open = { oldStart: old, newStart: now, lines: [] }))
      open.lines.push(line)
    } else open = undefined
    if (!line.startsWith('+')) old++
    if (!line.startsWith('-')) now++
  })
  return hunks
}

function nearChanges(lines: readonly string[]): boolean[] {
  const near = lines.map(() => false)
  lines.forEach((line, index) => {
    if (line.startsWith(' ')) return
    near.fill(true, Math.max(0, index - AROUND), index + AROUND + 1)
  })
  return near
}

const SENT = new Set<SectionView['fate']>(['shown', 'changed', 'added'])

export const isSent = (section: SectionView): boolean => SENT.has(section.fate)

export interface SectionChange {
  name: string
  owner?: string
  kind: 'added' | 'removed' | 'changed'
  hunks: Hunk[]
}

export interface Names {
  added: string[]
  removed: string[]
}

export interface Comparison {
  sections: SectionChange[]
  tools: Names & { changed: string[] }
  services: Names
  contexts: Names
  tokens: { before: number; after: number }
  same: boolean
}

/** What activating `after` in the place of `before` changes in every request. */
export function compareRuns(before: DryRun, after: DryRun): Comparison {
  const sections = sectionChanges(before.sections.filter(isSent), after.sections.filter(isSent))
  const tools = { ...names(before.tools.map(nameOf), after.tools.map(nameOf)), changed: changedTools(before, after) }
  const services = names(before.services, after.services)
  const kept = (run: DryRun) => run.contexts.filter(({ fate }) => fate === 'kept').map(nameOf)
  const contexts = names(kept(before), kept(after))
  const lists = [tools.added, tools.removed, tools.changed, services.added, services.removed]
  return {
    sections,
    tools,
    services,
    contexts,
    tokens: { before: total(before), after: total(after) },
    same: [sections, ...lists, contexts.added, contexts.removed].every((list) => list.length === 0),
  }
}

export const total = (run: DryRun): number => run.tokens.prompt + run.tokens.tools

const nameOf = ({ name }: { name: string }): string => name

function names(before: readonly string[], after: readonly string[]): Names {
  return {
    added: after.filter((name) => !before.includes(name)),
    removed: before.filter((name) => !after.includes(name)),
  }
}

const catalogText = ({ name: _, owner: __, ...spec }: OwnedTool): string => JSON.stringify(spec)

function changedTools(before: DryRun, after: DryRun): string[] {
  const old = new Map(before.tools.map((tool) => [tool.name, catalogText(tool)]))
  return after.tools.filter((tool) => old.has(tool.name) && old.get(tool.name) !== catalogText(tool)).map(nameOf)
}

function sectionChanges(before: readonly SectionView[], after: readonly SectionView[]): SectionChange[] {
  const old = new Map(before.map((section) => [section.name, section]))
  const now = new Map(after.map((section) => [section.name, section]))
  const all = new Set([...now.keys(), ...old.keys()])
  return [...all].flatMap((name) => {
    const [was, is] = [old.get(name), now.get(name)]
    const hunks = textHunks(was?.text ?? '', is?.text ?? '')
    if (was && is && hunks.length === 0) return []
    const owner = (is ?? was)?.owner
    const kind = was ? (is ? 'changed' : 'removed') : 'added'
    return [{ name, kind, hunks, ...(owner !== undefined && { owner }) } satisfies SectionChange]
  })
}
