import { watch } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { USER_PATCH, USER_PRESETS } from './boot-layers.ts'
import { HOST_FILE } from './boot.ts'
import type { FSWatcher } from 'node:fs'
import type { BootOptions, Host } from './boot.ts'

/** Editors write a file in several steps; one change is taken when it has been quiet for this long (ms). */
const QUIET_MS = 30
/** A file that never is quiet is taken as it is after this long (ms). */
const PATIENCE_MS = 300

/** File names inside a folder that matter; undefined = every YAML file. */
type Watched = Map<string, Set<string> | undefined>

function watchedFolders({ rootDir, dataDir, flags }: BootOptions): Watched {
  const folders: Watched = new Map()
  const file = (path: string): void => {
    const names = folders.get(dirname(path))
    folders.set(dirname(path), new Set([...(names ?? []), basename(path)]))
  }
  file(join(rootDir, HOST_FILE))
  file(join(dataDir, USER_PATCH))
  flags.patch.forEach(file)
  folders.set(join(rootDir, 'presets'), undefined)
  folders.set(join(dataDir, USER_PRESETS), undefined)
  return folders
}

/**
 * Applies changes of row files, preset documents and patch files to the running host. Folders are watched, not files:
 * saving by rename replaces the file. A folder that does not exist is not watched.
 */
export function watchRows(host: Host, options: BootOptions, told: () => void): () => void {
  let timer: NodeJS.Timeout | undefined
  let since: number | undefined
  let running = false
  let again = false
  const take = async (): Promise<void> => {
    since = undefined
    // One waiting reload sees all that came before it.
    if (running) return void (again = true)
    running = true
    do {
      again = false
      await host.reload().then(told, (error: unknown) => options.log?.(String(error)))
    } while (again)
    running = false
  }
  const changed = (): void => {
    clearTimeout(timer)
    since ??= performance.now()
    const patience = PATIENCE_MS - (performance.now() - since)
    timer = setTimeout(() => void take(), Math.max(0, Math.min(QUIET_MS, patience)))
  }
  const watchers: FSWatcher[] = []
  for (const [folder, names] of watchedFolders(options)) {
    try {
      const matters = (name: string | null): boolean =>
        name !== null && (names ? names.has(name) : /\.ya?ml$/.test(name) && !name.startsWith('.'))
      const watcher = watch(folder, { persistent: false }, (_event, name) => {
        if (matters(name)) changed()
      })
      // A folder that is removed while it is watched has nothing more to say.
      watcher.on('error', () => watcher.close())
      watchers.push(watcher)
    } catch {
      // It does not exist; what is made in it later takes a restart.
    }
  }
  return () => {
    clearTimeout(timer)
    for (const watcher of watchers) watcher.close()
  }
}
