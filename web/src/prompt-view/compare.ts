import type { ContextView, OwnedTool, RequestView } from '../../../server/wire/presets.ts'
import { promptHunk } from '../new-session/prompt-diff.ts'
import type { Hunk } from '../transcript/diff-lines.ts'
import { blocksOf } from './blocks.ts'
import type { Block } from './blocks.ts'

/** A block beside the same one of the other request; without a hunk both say the same. */
export interface ComparedBlock extends Block {
  hunk?: Hunk
  added: number
  removed: number
}

export interface Comparison {
  blocks: ComparedBlock[]
  system: Hunk
  added: number
  removed: number
  /** Lines that both begin with: as far as a provider's prefix cache can hold. */
  sameUpTo: number
  tools: ToolChange[]
  contexts: ContextChange[]
}

export interface ToolChange {
  name: string
  kind: 'added' | 'removed' | 'changed'
  hunk?: Hunk
}

export interface ContextChange {
  name: string
  before?: ContextView['fate']
  after?: ContextView['fate']
  hunk?: Hunk
}

/** What became of `before` in `now`. Sections are matched by name; where one side knows none, the whole texts are compared. */
export function compare(before: RequestView, now: RequestView): Comparison {
  const system = promptHunk(before.system, now.system)
  const changed = system.lines.findIndex((line) => !line.startsWith(' '))
  const known = before.origins && now.origins
  return {
    blocks: known ? compareBlocks(blocksOf(before), blocksOf(now)) : [counted({ ...whole(now), hunk: system })],
    system,
    ...counts(system),
    sameUpTo: changed < 0 ? system.lines.length : changed,
    tools: compareTools(before.tools, now.tools),
    contexts: known ? compareContexts(before.contexts, now.contexts) : [],
  }
}

const whole = ({ system }: RequestView): Block => ({ key: 'whole', text: system, sent: true })

const counts = ({ lines }: Hunk) => ({
  added: lines.filter((line) => line.startsWith('+')).length,
  removed: lines.filter((line) => line.startsWith('-')).length,
})

const counted = (block: Block & { hunk?: Hunk }): ComparedBlock => ({
  ...block,
  ...(block.hunk ? counts(block.hunk) : { added: 0, removed: 0 }),
})

const nameOf = (block: Block): string => block.section?.name ?? ''

function compareBlocks(before: readonly Block[], now: readonly Block[]): ComparedBlock[] {
  const left = before.filter((block) => block.sent)
  const taken = new Set<Block>()
  const take = (name: string): Block | undefined => {
    const found = left.find((block) => nameOf(block) === name && !taken.has(block))
    if (found) taken.add(found)
    return found
  }
  const pairs = now.map((block): [Block | undefined, Block] => [block.sent ? take(nameOf(block)) : undefined, block])
  const result = pairs.map(([old, block]): ComparedBlock => {
    if (!block.sent || old?.text === block.text) return counted(block)
    return counted({ ...block, hunk: promptHunk(old?.text ?? '', block.text) })
  })
  for (const old of left) {
    if (taken.has(old)) continue
    const gone = counted({ ...old, key: `gone.${old.key}`, sent: false, hunk: promptHunk(old.text, '') })
    const order = old.section?.order ?? 0
    const at = result.findIndex((block) => (block.section?.order ?? 0) > order)
    result.splice(at < 0 ? result.length : at, 0, gone)
  }
  return result
}

const toolText = ({ description, parameters }: OwnedTool): string =>
  `${description}\n\n${JSON.stringify(parameters, null, 2)}`

function compareTools(before: readonly OwnedTool[], now: readonly OwnedTool[]): ToolChange[] {
  const changes: ToolChange[] = []
  for (const tool of now) {
    const old = before.find((candidate) => candidate.name === tool.name)
    if (!old) changes.push({ name: tool.name, kind: 'added', hunk: promptHunk('', toolText(tool)) })
    else if (toolText(old) !== toolText(tool))
      changes.push({ name: tool.name, kind: 'changed', hunk: promptHunk(toolText(old), toolText(tool)) })
  }
  for (const old of before)
    if (!now.some((tool) => tool.name === old.name))
      changes.push({ name: old.name, kind: 'removed', hunk: promptHunk(toolText(old), '') })
  return changes
}

function compareContexts(before: readonly ContextView[], now: readonly ContextView[]): ContextChange[] {
  const names = new Set([...now, ...before].map((context) => context.name))
  const changes: ContextChange[] = []
  for (const name of names) {
    const old = before.find((context) => context.name === name)
    const own = now.find((context) => context.name === name)
    const [was, is] = [old?.text ?? '', own?.text ?? '']
    if (old?.fate === own?.fate && was === is) continue
    changes.push({
      name,
      ...(old && { before: old.fate }),
      ...(own && { after: own.fate }),
      ...(was !== is && { hunk: promptHunk(was, is) }),
    })
  }
  return changes
}
