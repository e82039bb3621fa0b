import { lstat, mkdir, open, readFile, realpath, rename, rm, stat } from 'node:fs/promises'
import { basename, dirname, extname, join, sep } from 'node:path'
import { CoreError } from '../wire/errors.ts'

/** Ids of new documents: each names a file. */
export const NEW_ID = /^[a-z0-9][a-z0-9-]{0,63}$/

export const stemOf = (file: string): string => basename(file, extname(file))

/** All or nothing: written beside the file, synced, then renamed over it. A file that is there keeps its mode; a new one is its owner's only. */
export async function replaceFile(path: string, text: string): Promise<void> {
  await mkdir(dirname(path), { recursive: true, mode: 0o700 })
  const temporary = join(dirname(path), `.${process.pid}-${performance.now()}.tmp`)
  const mode = (await stat(path).catch(() => undefined))?.mode ?? 0o600
  try {
    const file = await open(temporary, 'wx', mode & 0o777)
    try {
      await file.writeFile(text)
      await file.sync()
    } finally {
      await file.close()
    }
    await rename(temporary, path)
  } catch (error) {
    await rm(temporary, { force: true })
    throw error
  }
  await syncFolder(dirname(path))
}

/** A rename is on the disk when its folder is. */
async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder, 'r')
  try {
    await handle.sync()
  } catch {
    // Some file systems cannot sync a folder; the rename itself has happened.
  } finally {
    await handle.close()
  }
}

/** Undefined when it does not exist. */
export async function textOf(path: string): Promise<string | undefined> {
  try {
    return await readFile(path, 'utf8')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw error
  }
}

export async function exists(path: string): Promise<boolean> {
  return lstat(path).then(
    () => true,
    () => false,
  )
}

/** Throws `agent-preset/not-own` for a file that a link takes out of the folder. */
export async function requireInside(folder: string, file: string): Promise<void> {
  const [home, place] = await Promise.all([realpath(folder), realpath(file)])
  if (place.startsWith(home + sep)) return
  throw new CoreError(
    'agent-preset/not-own',
    `${file} is a link to a place outside ${folder}. Edit the file it points to, or put a copy in its place.`,
  )
}
