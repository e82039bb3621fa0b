import { X } from 'lucide-react'
import { useState } from 'react'
import type { CommandArgs, CommandResults } from '../../../server/wire/commands.ts'
import type { Rule, SafetyView } from '../../../server/wire/safety.ts'
import { ruleText } from '../safety/permission-chip.tsx'
import { run } from '../store/actions.ts'
import { Button, IconButton, Segment } from '../ui/button.tsx'
import { Problems } from '../ui/problems.tsx'
import { TextField, useDraft } from './fields.tsx'
import { Heading } from './heading.tsx'
import { useText } from './text.ts'

/** Rules that outlive a session, and a new one tried on past calls before it holds. */
export function Rules({ safety }: { safety: SafetyView }) {
  const t = useText()
  return (
    <section id="permission-rules">
      <Heading title={t('perm.rules')} about={t('perm.rules.about')} />
      {safety.rules.length > 0 && (
        <div className="card rows">
          {safety.rules.map((rule) => (
            <div key={rule.id} className="kv-row" data-testid="rule">
              <span className="tag">{t(`rule.${rule.effect}`)}</span>
              <span className="mono grow trunc">{ruleText(rule)}</span>
              <span className="t3 t12 trunc">{rule.workspace ?? t('perm.everywhere')}</span>
              <IconButton
                label={t('rule.remove')}
                onClick={() => void run('rule.remove', { rule: rule.id }, { place: 'permission.rules' })}
              >
                <X size={14} />
              </IconButton>
            </div>
          ))}
        </div>
      )}
      <NewRule />
      <Problems place="permission.rules" />
    </section>
  )
}

interface RuleDraft {
  effect: Rule['effect']
  tool: string
  kind: 'prefix' | 'glob'
  text: string
}
const EMPTY_RULE: RuleDraft = { effect: 'allow', tool: 'bash', kind: 'prefix', text: '' }

type NewRuleArgs = CommandArgs<'rule.add'>['rule']

function NewRule() {
  const t = useText()
  const { value, changed, set, drop } = useDraft(EMPTY_RULE)
  const [tried, setTried] = useState<CommandResults['rule.rehearse']>()
  const match = value.text.trim() === '' ? undefined : { kind: value.kind, text: value.text.trim() }
  const rule: NewRuleArgs = { effect: value.effect, tool: value.tool.trim(), scope: 'host', ...(match && { match }) }
  const rehearse = async () => {
    const outcome = await run('rule.rehearse', { rule }, { place: 'permission.rules' })
    if (outcome.ok) setTried(outcome.result)
  }
  const add = async () => {
    const outcome = await run('rule.add', { rule }, { place: 'permission.rules', retry: () => void add() })
    if (!outcome.ok) return
    drop()
    setTried(undefined)
  }
  return (
    <form
      className="card padded stack"
      data-testid="new-rule"
      onSubmit={(event) => {
        event.preventDefault()
        if (rule.tool !== '') void add()
      }}
    >
      <div className="flex" style={{ flexWrap: 'wrap' }}>
        <Segment
          label={t('perm.effect')}
          value={value.effect}
          options={(['allow', 'ask', 'deny'] as const).map((effect) => ({ value: effect, label: t(`rule.${effect}`) }))}
          onPick={(effect) => set({ effect })}
        />
        <Segment
          label={t('perm.match')}
          value={value.kind}
          options={(['prefix', 'glob'] as const).map((kind) => ({ value: kind, label: t(`perm.match.${kind}`) }))}
          onPick={(kind) => set({ kind })}
        />
      </div>
      <div className="pair">
        <TextField
          label={t('perm.tool')}
          value={value.tool}
          hint={t('perm.tool.about')}
          onText={(tool) => set({ tool })}
        />
        <TextField
          label={t('perm.text')}
          value={value.text}
          hint={t('perm.text.about')}
          onText={(text) => set({ text })}
        />
      </div>
      <div className="flex">
        <Button data-testid="rehearse" onClick={() => void rehearse()}>
          {t('perm.rehearse')}
        </Button>
        <Button type="submit" look="pri" off={rule.tool === '' ? t('perm.tool.about') : undefined}>
          {t('perm.addRule')}
        </Button>
        {changed && (
          <Button look="ghost" onClick={drop}>
            {t('cancel')}
          </Button>
        )}
      </div>
      {tried && <Rehearsal tried={tried} />}
    </form>
  )
}

/** What the rule would have made of the latest calls. */
function Rehearsal({ tried }: { tried: CommandResults['rule.rehearse'] }) {
  const t = useText()
  return (
    <div className="stack tight" data-testid="rehearsal">
      <p className="t2 t12">{t('perm.rehearsed', { matched: tried.matched, n: tried.looked })}</p>
      {tried.calls.slice(0, 20).map((call) => (
        <div key={`${call.session}:${call.seq}`} className="flex rule">
          <span className="tag">{call.effect ? t(`rule.${call.effect}`) : t('perm.noMatch')}</span>
          <span className="mono-s trunc grow">{call.subject}</span>
          {call.why !== undefined && <span className="t3 t12 trunc">{call.why}</span>}
        </div>
      ))}
    </div>
  )
}
