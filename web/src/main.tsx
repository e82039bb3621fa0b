import '@fontsource-variable/inter/wght.css'
import '@fontsource-variable/jetbrains-mono/wght.css'
import './styles/tokens.css'
import './styles/base.css'
import './styles/controls.css'
import './styles/frame.css'
import './styles/transcript.css'
import './styles/composer.css'
import './styles/screens.css'
import './styles/presets.css'
import './styles/safety.css'
import { createRoot } from 'react-dom/client'
import { App } from './app.tsx'
import { start } from './store/actions.ts'
import { notifyOfAsks } from './safety/notify.ts'
import { applyPrefs } from './store/prefs.ts'
import { Boundary } from './ui/boundary.tsx'

applyPrefs()
notifyOfAsks()
void start()

const root = document.getElementById('root')
if (root)
  createRoot(root).render(
    <Boundary>
      <App />
    </Boundary>,
  )
