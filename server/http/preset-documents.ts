import type { FastifyInstance } from 'fastify'
import type { ZodTypeProvider } from 'fastify-type-provider-zod'
import { z } from 'zod'
import type { PresetLibrary } from '../preset/library.ts'
import type { DryRun, PresetUsage } from '../wire/presets.ts'

const Preset = z.strictObject({ preset: z.string().max(256) })

export interface PresetDocumentsOptions {
  sessions: { presetUsage(preset: string): Promise<PresetUsage> | PresetUsage }
  library: Pick<PresetLibrary, 'source' | 'version' | 'vocabulary'>
  /** What an agent of the preset is given now. */
  presetContents(id: string): Promise<DryRun>
  presetDocument(id: string): Promise<{ agentPreset: string; content: string; name?: string; description?: string }>
}

/** Names a download after a preset, whatever characters its id has. */
const disposition = (preset: string): string =>
  `attachment; filename="${preset.replace(/[^\w.-]/g, '_')}.yml"; filename*=UTF-8''${encodeURIComponent(preset)}.yml`

/** What can be read about presets: as declared, as written, earlier texts, who uses which, what a document may say. */
export function installPresetDocuments(server: FastifyInstance, options: PresetDocumentsOptions): void {
  const app = server.withTypeProvider<ZodTypeProvider>()
  const { sessions, library, presetContents, presetDocument } = options
  app.get(
    '/api/presets/vocabulary',
    { schema: { summary: 'Row names of presets and the schema of each config' } },
    () => library.vocabulary(),
  )
  app.get(
    '/api/presets/:preset/contents',
    {
      schema: { summary: 'Prompt, contexts, tools and services that an agent of the preset is given', params: Preset },
    },
    (request) => presetContents(request.params.preset),
  )
  app.get(
    '/api/presets/:preset/document',
    { schema: { summary: 'A preset as declared, in YAML', params: Preset } },
    (request) => presetDocument(request.params.preset),
  )
  app.get(
    '/api/presets/:preset/source',
    { schema: { summary: 'The whole document as written, and its earlier texts', params: Preset } },
    (request) => library.source(request.params.preset),
  )
  app.get(
    '/api/presets/:preset/source/:version',
    {
      schema: {
        summary: 'An earlier text of an own document',
        params: Preset.extend({ version: z.string().max(64) }),
      },
    },
    async (request) => ({ text: await library.version(request.params.preset, request.params.version) }),
  )
  app.get(
    '/api/presets/:preset/usage',
    { schema: { summary: 'Generations of a preset and the sessions in each', params: Preset } },
    (request) => sessions.presetUsage(request.params.preset),
  )
  app.get(
    '/api/presets/:preset/export',
    { schema: { summary: 'The whole document as a file', params: Preset } },
    async (request, reply) => {
      const { text, preset } = await library.source(request.params.preset)
      reply.header('content-disposition', disposition(preset)).type('application/yaml; charset=utf-8')
      return text
    },
  )
}
