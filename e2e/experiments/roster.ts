import { observe } from './experiment.ts'
import { doc, inLab, tool } from './lab.ts'
import type { Experiment } from './experiment.ts'
import type { Document } from './lab.ts'

const ordered = (order: number): Document => ({ ...doc(tool('alpha')), keys: { order } })

/** What the management side reads (EX-14 and EX-15). */
export const roster: Experiment[] = [
  {
    id: 'EX-14',
    title: 'the order of the list',
    did: 'declared presets with and without `order`, two of them with the same one, in no order at all',
    run: () =>
      inLab(
        {
          presets: {
            zoo: doc(),
            second: ordered(2),
            ash: doc('- {id: bad, name: synthetic-thrower}'),
            alpha: ordered(2),
            first: ordered(-1),
          },
        },
        async (lab) => {
          const rows = lab.presets.list()
          return [
            observe(
              'ids',
              rows.map(({ id }) => id),
              ['first', 'alpha', 'second', 'ash', 'zoo'],
            ),
            observe('keys of a row without order or fault', Object.keys(rows.at(-1)!), ['id']),
            observe('keys of a broken one', Object.keys(rows[3]!), ['id', 'broken']),
          ]
        },
      ),
  },
  {
    id: 'EX-15',
    title: 'reading a document with `!!js`',
    did: 'read back a preset whose rows hold one expression that runs and, in a disabled row, one that would throw',
    run: () => {
      const rows = [
        '- id: named',
        '  name: synthetic-tool',
        '  config:',
        '    name: !!js String(40 + 2)',
        '- id: off',
        '  name: synthetic-tool',
        '  disabled: true',
        '  config:',
        '    name: !!js neverDefined.name',
      ].join('\n')
      return inLab({ presets: { standard: { rows, keys: { name: 'Mine' } } } }, async (lab) => {
        const session = await lab.session()
        const { agentPreset, content, name } = lab.presets.readDocument('standard')
        return [
          observe('agentPreset and name', [agentPreset, name], ['standard', 'Mine']),
          observe('the lines with an expression', content.match(/!!js .*/g), [
            '!!js String(40 + 2)',
            '!!js neverDefined.name',
          ]),
          observe('it prints no object for one', content.includes('__jsExpr'), false),
          observe('what the first one came to', lab.tools(session.agent.scope), ['42']),
          observe('resolve', await lab.presets.resolve(), { id: 'standard' }),
        ]
      })
    },
  },
]
