import { observe, refusal } from './experiment.ts'
import { A, B, doc, inLab, tool } from './lab.ts'
import type { Experiment } from './experiment.ts'

const presets = { standard: doc(tool('alpha')) }

/** The deployment's default model (EX-25 and EX-26). */
export const defaultModel: Experiment[] = [
  {
    id: 'EX-25',
    title: 'the default model, changed and cleared live',
    did: 'rewrote the config of the running default-model row twice: another model, then the same without an effort',
    run: () =>
      inLab({ presets, defaultModel: { ...A, reasoningEffort: 'high' } }, async (lab) => {
        const service = lab.service('agentDefaultModel')
        const first = service.currentSelection()
        if (first) first.model = 'written over'
        const again = service.currentSelection()
        await lab.setDefaultModel({ ...B, reasoningEffort: 'low' })
        const moved = service.currentSelection()
        await lab.setDefaultModel(B)
        const cleared = service.currentSelection()
        return [
          observe('at first, whatever a caller did to its copy', again, { ...A, reasoningEffort: 'high' }),
          observe('after the change', moved, { ...B, reasoningEffort: 'low' }),
          observe('keys without an effort', Object.keys(cleared ?? {}), ['provider', 'model']),
          observe('the row was not restarted', lab.service('agentDefaultModel') === service, true),
        ]
      }),
  },
  {
    id: 'EX-26',
    title: 'saving the default: the queue, a failure, and no editor',
    did: 'saved without an editor; then, with one that waits, saved twice, changed the values meanwhile, and refused the first',
    run: async () => {
      const without = await inLab({ presets }, async (lab) => {
        const outcome = await refusal(() => lab.service('agentDefaultModel').saveSelection(B))
        return [outcome, lab.service('agentDefaultModel').currentSelection()]
      })
      const rows = '- {id: editor, name: synthetic-editor}\n'
      return inLab({ presets, rows }, async (lab) => {
        const { bench } = lab
        const service = lab.service('agentDefaultModel')
        const later = { ...B, reasoningEffort: 'low' }
        const first = refusal(() => service.saveSelection(A))
        const second = refusal(() => service.saveSelection(later))
        later.model = 'changed after the call'
        await bench.editedTimes(1)
        const waiting = bench.edits.length
        bench.edits[0]!.refuse('the file is locked')
        const failed = await first
        await bench.editedTimes(2)
        bench.edits[1]!.finish()
        return [
          observe('without an editor: outcome and default', without, ['no error', A]),
          observe('edits begun while the first one waits', waiting, 1),
          observe('outcome of the first', failed, 'the file is locked'),
          observe('outcome of the second', await second, 'no error'),
          observe(
            'what was to be written',
            bench.edits.map(({ config }) => config),
            [A, { ...B, reasoningEffort: 'low' }],
          ),
        ]
      })
    },
  },
]
