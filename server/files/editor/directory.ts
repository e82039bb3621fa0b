import { FsError, type CallOptions, type DirEntry, type Fs, type Target } from '../fs.ts'
import { byCodePoint } from '../fs-local.ts'

const LEVELS = 2
const SKIPPED = new Set(['node_modules', '__pycache__'])

interface Row {
  kind: 'd' | 'f' | '?'
  path: string
  remark?: string
}

const shown = (entry: DirEntry): boolean => !entry.name.startsWith('.') && !SKIPPED.has(entry.name)

/** A newline in a name would forge a row. */
const printable = (path: string): string =>
  path.replace(/\p{Cc}/gu, (character) => JSON.stringify(character).slice(1, -1))

const reason = (error: FsError): string => (error.code === 'FS_PERMISSION' ? 'permission denied' : 'cannot be read')

async function linkRow(fs: Fs, path: string): Promise<Row> {
  try {
    const info = await fs.stat(await fs.resolve(path))
    if (!info) return { kind: '?', path, remark: 'dangling symbolic link' }
    const kind = info.kind === 'directory' ? 'd' : info.kind === 'file' ? 'f' : '?'
    return { kind, path, remark: 'symbolic link' }
  } catch (error) {
    if (error instanceof FsError) return { kind: '?', path, remark: `symbolic link, ${reason(error)}` }
    throw error
  }
}

async function rowsBelow(fs: Fs, directory: Target, level: number, options: CallOptions): Promise<Row[]> {
  const rows: Row[] = []
  for (const entry of (await fs.listDir(directory, options)).filter(shown)) {
    const path = `${directory.path === '/' ? '' : directory.path}/${entry.name}`
    if (entry.kind === 'symlink') {
      rows.push(await linkRow(fs, path))
      continue
    }
    if (entry.kind !== 'directory') {
      rows.push({ kind: entry.kind === 'file' ? 'f' : '?', path })
      continue
    }
    const row: Row = { kind: 'd', path }
    rows.push(row)
    if (level === LEVELS) continue
    try {
      rows.push(...(await rowsBelow(fs, await fs.resolve(path), level + 1, options)))
    } catch (error) {
      if (!(error instanceof FsError)) throw error
      row.remark = reason(error)
    }
  }
  return rows
}

/**
 * Two levels, without hidden and dependency entries, in code-point order of the paths; one unreadable entry is marked
 * and does not fail the rest. Links are listed with the kind of their target and never entered.
 */
export async function viewDirectory(
  fs: Fs,
  target: Target,
  options: CallOptions & { maxOutputChars: number },
): Promise<{ text: string; entries: number }> {
  const directory = { ...target, path: target.path.replace(/(?<=.)\/+$/, '') }
  const rows = (await rowsBelow(fs, directory, 1, options)).sort((a, b) => byCodePoint(a.path, b.path))
  const header = `Directory ${directory.path}, two levels, without hidden entries, node_modules and __pycache__ (d = directory, f = file, ? = other):`
  const lines: string[] = [header]
  let used = header.length
  for (const { kind, path, remark } of rows) {
    const line = `${kind}\t${printable(path)}${remark ? `\t(${remark})` : ''}`
    used += line.length + 1
    if (used > options.maxOutputChars - 100) {
      lines.push(`[${rows.length - lines.length + 1} more entries not shown; view a subdirectory]`)
      break
    }
    lines.push(line)
  }
  return { text: lines.join('\n'), entries: rows.length }
}
