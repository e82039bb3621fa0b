import type { Locator, Page } from '@playwright/test'
import type { CommandArgs } from '../../server/wire/commands.ts'
import type { ProbeVerdict } from '../../server/wire/models.ts'
import { expect, visit, type World } from './fixtures.ts'

export const rowOf = (page: Page, provider: string): Locator =>
  page.locator(`[data-testid=provider-row][data-provider="${provider}"]`)

/** Puts a route in place without the page; a key goes along when there is one. */
export async function addRoute(world: World, args: CommandArgs<'provider.save'>, key?: string): Promise<void> {
  const client = await world.server.connect()
  await client.command('provider.save', args)
  if (key !== undefined) await client.command('credential.set', { provider: args.id, key })
  await client.close()
}

/** Opens the settings with one provider's row opened. */
export async function openRow(page: Page, world: World, provider: string, more = ''): Promise<Locator> {
  await visit(page, world.server, `settings/models?provider=${provider}${more}`)
  const row = rowOf(page, provider)
  await expect(row.getByRole('button', { name: 'Test connection' })).toBeVisible()
  return row
}

/** Tests the connection and waits for its verdict. */
export async function testRow(row: Locator, verdict: ProbeVerdict): Promise<void> {
  await row.getByRole('button', { name: 'Test connection' }).click()
  await expect(row.getByTestId('probe')).toHaveAttribute('data-verdict', verdict)
}

/** One section of "More". */
export async function section(row: Locator, name: string): Promise<Locator> {
  const head = row.getByTestId('more')
  if ((await head.getAttribute('aria-expanded')) !== 'true') await head.click()
  return row.locator(`[data-part=${name}]`)
}

/** Saves a section and waits until it has nothing left to save. */
export async function saveSection(part: Locator): Promise<void> {
  await part.getByRole('button', { name: 'Save' }).click()
  await expect(part.getByRole('status')).toHaveText('Saved')
}
