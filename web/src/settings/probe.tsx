import { Check, CircleX, Copy } from 'lucide-react'
import { useState } from 'react'
import type { Probe, ProbeExchange } from '../../../server/wire/models.ts'
import { duration, timeOfDay } from '../i18n/format.ts'
import { Button, IconButton } from '../ui/button.tsx'
import { copyText } from '../ui/problems.tsx'
import { cureOf } from './probes.ts'
import type { Cure } from './probes.ts'
import { useText } from './text.ts'

interface Props {
  probe: Probe
  running: boolean
  onCure(cure: Cure): void
}

const LONG_BODY = 400

/** What was sent and what came back, exchange by exchange, with a verdict and the next step; keys are told by length only. */
export function ProbeResult({ probe, running, onCure }: Props) {
  const t = useText()
  const works = probe.verdict === 'works'
  const cure = cureOf(probe.verdict)
  const ms = probe.exchanges.reduce((sum, exchange) => sum + exchange.ms, 0)
  return (
    <div className={`probe-result ${running ? 'old' : ''}`}>
      <div className="flex">
        <span className={`tag ${works ? 'ok' : 'fail'}`} data-testid="probe" data-verdict={probe.verdict}>
          {works ? <Check size={12} /> : <CircleX size={12} />}
          {t(`verdict.${probe.verdict}`)}
        </span>
        <span className="t3 t12 num trunc">
          {[
            probe.exchanges.length > 0 && t('probe.calls', { n: probe.exchanges.length }),
            probe.exchanges.length > 0 && (ms < 1000 ? `${Math.round(ms)} ms` : duration(ms)),
            probe.model,
            t('probe.at', { time: timeOfDay(probe.at) }),
          ]
            .filter(Boolean)
            .join(', ')}
        </span>
        <IconButton look="right sm" label={t('probe.copy')} onClick={() => void copyText(plainText(probe))}>
          <Copy size={14} />
        </IconButton>
      </div>
      {!works && (
        <div className="probe-why">
          <p>
            {probe.message} {probe.code !== undefined && <span className="mono-s t3">{probe.code}</span>}
          </p>
          <p className="t2 t12">{t(`verdict.${probe.verdict}.next`)}</p>
          {cure !== 'none' && (
            <Button look="sm" onClick={() => onCure(cure)}>
              {t(`cure.${cure}`)}
            </Button>
          )}
        </div>
      )}
      {probe.exchanges.length === 0 && <p className="t3 t12">{t('probe.nothingSent')}</p>}
      {probe.exchanges.length > 0 && (
        <div className="card probe" tabIndex={0} role="group" aria-label={t('probe.what')}>
          {probe.exchanges.map((exchange, index) => (
            <Exchange key={index} exchange={exchange} />
          ))}
        </div>
      )}
    </div>
  )
}

function Exchange({ exchange }: { exchange: ProbeExchange }) {
  const t = useText()
  const [whole, setWhole] = useState(false)
  const { body = '' } = exchange
  const long = body.length > LONG_BODY && !whole
  const good = exchange.status !== undefined && exchange.status < 400
  return (
    <pre>
      <span className="k">{t('probe.sent')}</span>
      <span>
        {exchange.method} {exchange.url}
        {Object.entries(exchange.headers).map(([name, value]) => `\n${name}: ${value}`)}
        {body !== '' && `\n${long ? body.slice(0, LONG_BODY) : body}`}
        {long && (
          <button type="button" className="more-of" onClick={() => setWhole(true)}>
            {t('probe.whole')}
          </button>
        )}
      </span>
      <span className="k">{t('probe.got')}</span>
      <span>
        {exchange.status !== undefined && <b className={good ? 'ok' : 'fail'}>{exchange.status} </b>}
        {t('probe.in', { time: `${Math.round(exchange.ms)} ms` })}
        {exchange.got !== '' && `, ${exchange.got}`}
      </span>
    </pre>
  )
}

/** For a report to somebody else: the page's own words, in one text. */
function plainText(probe: Probe): string {
  const exchanges = probe.exchanges.map(({ method, url, headers, body, status, ms, got }) =>
    [
      `> ${method} ${url}`,
      ...Object.entries(headers).map(([name, value]) => `> ${name}: ${value}`),
      ...(body === undefined ? [] : [`> ${body}`]),
      `< ${[status, `${Math.round(ms)} ms`, got].filter((part) => part !== undefined && part !== '').join(', ')}`,
    ].join('\n'),
  )
  const head = [probe.verdict, probe.code, probe.model, new Date(probe.at).toISOString()].filter(Boolean).join(' ')
  return [head, probe.message, ...exchanges].join('\n\n')
}
