import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import type { BrowserRig } from './chromium.ts'
import { figure, median, ROUNDS, type Figure } from './figure.ts'

/** One frame of a screen that shows sixty a second, in milliseconds. */
const FRAME_MS = 1000 / 60

interface Feedback {
  /** Milliseconds from the frame that acknowledges the switch to the first painted frame at all. */
  next: number
  /** And to the painted frame in which the chip names the preset. */
  shown: number
}

/**
 * Runs in the page before its own scripts: `window.feedback(preset)` resolves for the next acknowledged switch. A message
 * posted from an animation frame is handled right after that frame was painted.
 */
const WATCH = `
  const painted = () => new Promise((resolve) => requestAnimationFrame(() => {
    const channel = new MessageChannel()
    channel.port1.onmessage = () => {
      channel.port1.close()
      resolve()
    }
    channel.port2.postMessage(0)
  }))
  let acknowledged = () => {}
  const Plain = window.WebSocket
  window.WebSocket = class extends Plain {
    constructor(...args) {
      super(...args)
      this.addEventListener('message', ({ data }) => {
        const frame = JSON.parse(data)
        if (frame.t === 'ack' && frame.result?.preset) acknowledged(performance.now())
      })
    }
  }
  window.feedback = (preset) => new Promise((resolve) => {
    acknowledged = async (start) => {
      acknowledged = () => {}
      await painted()
      const next = performance.now() - start
      while (!document.querySelector('[data-testid=preset-chip]')?.textContent.includes(preset)) await painted()
      resolve({ next, shown: performance.now() - start })
    }
  })
`

/** A person switches the preset of a blank session there and back. */
export async function switchFeedback({ browser, server }: BrowserRig, root: string): Promise<Figure> {
  const work = join(root, 'work')
  mkdirSync(work, { recursive: true })
  const client = await server.connect()
  const { workspace } = await client.command('workspace.add', { path: work, confirmed: true })
  const { session } = await client.command('session.create', { workspace: workspace.id, preset: 'standard' })
  await client.close()
  const page = await browser.newPage({ viewport: { width: 1280, height: 800 } })
  await page.addInitScript(WATCH)
  await page.goto(server.url)
  await page.getByTestId('new-session').waitFor()
  await page.goto(new URL(`s/${session}`, server.base).href)
  const chip = page.getByTestId('preset-chip').first()
  const runs: Feedback[] = []
  for (let round = 0; round <= ROUNDS * 2; round++) {
    const preset = round % 2 === 0 ? 'minimal' : 'standard'
    await chip.click()
    const seen = page.evaluate<Feedback>(`feedback('${preset}')`)
    await page.getByRole('option', { name: preset }).click()
    runs.push(await seen)
  }
  await page.close()
  const counted = runs.slice(1)
  return figure({
    name: 'switch acknowledged to switch shown',
    unit: 'ms',
    value: median(counted.map(({ shown }) => shown)),
    floor: median(counted.map(({ next }) => next)),
    floorIs: 'the next frame that the page paints',
    judged: 'over',
    target: FRAME_MS,
  })
}
