import { observe, refusal } from './experiment.ts'
import { doc, inLab, persona, tool } from './lab.ts'
import type { Experiment } from './experiment.ts'
import type { Lab } from './lab.ts'

const prompt = { personaPrefix: 'I am the deployment.', personaSuffix: 'Deployed at home.' }
const DEPLOYMENT = 'I am the deployment.\n\nDeployed at home.'

/** Takes a row out of a running preset tree, found by the row that stands beside it there. */
async function unload({ bench }: Lab, handle: string, id: string): Promise<void> {
  const beside = bench.rows[handle]!
  await beside.parent.remove(id)
}

/** The identity text of the prompt (EX-20 to EX-24). */
export const personas: Experiment[] = [
  {
    id: 'EX-20',
    title: 'a persona shadows the deployment’s identity',
    did: 'gave the deployment an identity and one of two presets a persona of its own',
    run: () => {
      const presets = {
        standard: doc(tool('alpha')),
        minimal: doc(persona({ prefix: 'I am minimal.', suffix: 'In a shell.' })),
      }
      return inLab({ presets, prompt }, async (lab) => {
        const plain = await lab.session()
        const own = await lab.session({ preset: 'minimal' })
        return [
          observe('prompt without a persona', await lab.prompt(plain), DEPLOYMENT),
          observe('prompt with one', await lab.prompt(own), 'I am minimal.\n\nIn a shell.'),
          observe('and without one again', await lab.prompt(plain), DEPLOYMENT),
        ]
      })
    },
  },
  {
    id: 'EX-21',
    title: 'registered empty text, and its removal',
    did: 'gave a preset a persona of empty text, then took that row out of the running tree',
    run: () => {
      const handle = '- {id: handle, name: synthetic-handle, config: {name: tree}}'
      return inLab({ presets: { standard: doc(persona({ prefix: '' }), handle) }, prompt }, async (lab) => {
        const session = await lab.session()
        const names = (await lab.assemble(session)).sections.map(({ name }) => name)
        const empty = await lab.prompt(session)
        await unload(lab, 'tree', 'persona')
        await lab.service('loader').await()
        return [
          observe('sections that were looked up', names, ['deployment:persona-prefix', 'deployment:persona-suffix']),
          observe('prompt with the empty persona', empty, ''),
          observe('prompt once it is gone', await lab.prompt(session), DEPLOYMENT),
        ]
      })
    },
  },
  {
    id: 'EX-22',
    title: 'a persona for everybody',
    did: 'put the persona plugin into the host file: by its own name, and past the check of planes by another',
    run: () => {
      const config = 'config: {prefix: I am everybody.}'
      const rows = `- {id: refused, name: persona, ${config}}\n- {id: colliding, name: global-persona, ${config}}\n`
      return inLab({ presets: { standard: doc(tool('alpha')) }, prompt, rows }, async (lab) => {
        const causes = Object.fromEntries(lab.host.report.rows.map(({ row, cause }) => [row, cause]))
        const session = await lab.session()
        return [
          observe('rows that could not start', Object.keys(causes).toSorted(), ['colliding', 'refused']),
          observe('by its own name it is', /model-facing row/.exec(causes['refused'] ?? '')?.[0], 'model-facing row'),
          observe(
            'past that check it collides, since the section is',
            /already registered/.exec(causes['colliding'] ?? '')?.[0],
            'already registered',
          ),
          observe('prompt of a session', await lab.prompt(session), DEPLOYMENT),
        ]
      })
    },
  },
  {
    id: 'EX-23',
    title: 'complete, with tools and contexts',
    did: 'put a tool, guidance, a complete persona without runtime context, one optional and one required context together',
    run: () => {
      const rows = [
        tool('alpha'),
        '- {id: guidance, name: synthetic-guidance, config: {name: "alpha:guidance", text: Use alpha.}}',
        persona({ prefix: 'I am complete.', suffix: '{{unknown}}', complete: true, includeRuntimeContext: false }),
        '- {id: optional, name: synthetic-context, config: {name: optional, text: It is noon.}}',
        '- {id: required, name: synthetic-context, config: {name: required, text: Stay inside., required: true}}',
      ]
      return inLab({ presets: { standard: doc(...rows) }, prompt }, async (lab) => {
        const session = await lab.session()
        lab.service('hooks').on(null, 'system-prompt/assemble', async (event, next) => {
          event.assembly.sections.push({ name: 'listener', order: 1, text: 'A listener.' })
          return next()
        })
        const { tools } = await lab.assemble(session)
        return [
          observe('prompt', await lab.prompt(session), 'I am complete.'),
          observe(
            'tools of the assembly',
            tools.map(({ name }) => name),
            ['alpha'],
          ),
          observe('runtime context', await lab.contexts(session), 'Stay inside.'),
        ]
      })
    },
  },
  {
    id: 'EX-24',
    title: 'the rules of templates',
    did: 'rendered personas with every kind of reference against one assembly',
    run: () => {
      const templates: Record<string, [prefix: string, expected: string]> = {
        known: ['I use {{model}}.', 'I use model-a.'],
        unregistered: ['I use {{nothing}}.', 'unknown variable "nothing"'],
        undefined: ['I use {{absent}}.', 'variable "absent"'],
        dotted: ['I use {{model.name}}.', 'malformed variable reference "{{model.name}}"'],
        capital: ['I use {{Model}}.', 'malformed variable reference "{{Model}}"'],
        inherited: ['I use {{constructor}}.', 'unknown variable "constructor"'],
        lone: ['I use {{ and nothing else.', 'I use {{ and nothing else.'],
        once: ['I use {{braces}}.', 'I use {{model}}.'],
      }
      const presets = Object.fromEntries(
        Object.entries(templates).map(([id, [prefix]]) => [id, doc(persona({ prefix }))]),
      )
      return inLab({ presets, registry: { default: 'known' } }, async (lab) => {
        const variables = { absent: undefined, braces: '{{model}}' }
        const observed = Object.entries(templates).map(async ([id, [prefix, expected]]) => {
          const session = await lab.session({ preset: id })
          let rendered = ''
          const failure = await refusal(async () => (rendered = await lab.prompt(session, variables)))
          const saw = failure === 'no error' ? rendered : failure.slice(0, expected.length)
          return observe(prefix, saw, expected)
        })
        return Promise.all(observed)
      })
    },
  },
]
