import { KeyRound } from 'lucide-react'
import { useState } from 'react'
import { useT } from './i18n/i18n.ts'
import { logIn } from './store/actions.ts'
import { useApp } from './store/store.ts'
import { Brand } from './ui/brand.tsx'
import { Button } from './ui/button.tsx'

export function Login() {
  const t = useT()
  const [token, setToken] = useState('')
  const refusal = useApp((app) => app.refusal)
  const [error, setError] = useState(refusal)
  const [busy, setBusy] = useState(false)
  const submit = async () => {
    if (token.trim() === '' || busy) return
    setBusy(true)
    setError(await logIn(token.trim()))
    setBusy(false)
  }
  return (
    <main className="login">
      <form
        onSubmit={(event) => {
          event.preventDefault()
          void submit()
        }}
      >
        <h1 className="brand">
          <Brand />
        </h1>
        <label>
          <span className="lbl">{t('login.token')}</span>
          <span className={`field ${error === undefined ? '' : 'bad'}`}>
            <KeyRound size={14} />
            <input
              autoFocus
              type="password"
              autoComplete="current-password"
              className="mono"
              value={token}
              aria-invalid={error !== undefined}
              aria-describedby="login-message"
              onChange={(event) => {
                setToken(event.target.value)
                setError(undefined)
              }}
            />
          </span>
        </label>
        {error !== undefined && (
          <p className="msg fail" id="login-message" role="alert">
            {error}
          </p>
        )}
        <Button type="submit" look="pri lg" off={token.trim() === '' ? t('login.first') : undefined}>
          {t('login')}
        </Button>
        <p className="msg t3" style={{ textAlign: 'center' }}>
          {t('login.where')} <span className="mono">npm run login</span>
        </p>
      </form>
    </main>
  )
}
