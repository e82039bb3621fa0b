import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { shippedPresets } from './boot-testing.ts'
import { CoreError } from './wire/errors.ts'
import { PresetLibrary } from './preset/library.ts'
import { Documents } from './preset/library-documents.ts'
import type { BootOptions } from './boot.ts'
import type { TestHost } from './boot-testing.ts'
import type { HostLoader } from './preset/loader.ts'
import type { LibraryOptions } from './preset/library.ts'
import './plugins/preset-library.ts'

export const OWN = `# My own words.
- id: row # of the loader
  name: agent-preset
  config:
    id: own
    description: >-
      Two lines
      of text.
    plugins:
      - id: one
        name: probe-tool
        config: {name: one}
      - name: probe-thrower
        disabled: !!js "1 < 2" # never runs
`

export async function libraryHost(files: Record<string, string> = { own: OWN }, options?: Partial<BootOptions>) {
  const documents = Object.entries(files).map(([name, text]) => [`data/presets/${name}.yml`, text] as const)
  // The row's own library would keep the same texts in the same folder.
  const patches = [{ id: 'preset-library', disabled: true }]
  const made = await shippedPresets({ patches, ...options }, Object.fromEntries(documents))
  const library = libraryOver(made, {})
  const presets = made.host.service('agentPresets')!
  const pathOf = (name: string) => join(made.dataDir, 'presets', `${name}.yml`)
  return { ...made, library, presets, pathOf, read: (name: string) => readFile(pathOf(name), 'utf8') }
}

/** A second library over the same host, with a disk that can be told to fail. */
export function libraryOver({ host, dataDir }: TestHost, options: Partial<LibraryOptions>): PresetLibrary {
  const loader = host.ctx.loader as HostLoader
  const { registry } = host.service('agentPresets')!
  return new PresetLibrary({
    documents: new Documents(loader, join(dataDir, 'presets')),
    registry,
    catalog: (host.service('hostRows') as { catalog: LibraryOptions['catalog'] }).catalog,
    load: loader.load,
    reload: () => host.reload(),
    ...options,
  })
}

export async function refusal(work: Promise<unknown>): Promise<{ code: string; message: string; details: unknown }> {
  const error: unknown = await work.then(
    () => undefined,
    (reason: unknown) => reason,
  )
  if (!(error instanceof CoreError)) throw new Error('it was not refused', { cause: error })
  return { code: error.code, message: error.message, details: error.details }
}

export const ids = ({ host }: TestHost) =>
  host
    .service('agentPresets')!
    .list()
    .map(({ id }) => id)
export const toolsOf = async (made: Awaited<ReturnType<typeof libraryHost>>, id: string) =>
  (await made.presets.describe(id)).tools.map(({ name }) => name)
