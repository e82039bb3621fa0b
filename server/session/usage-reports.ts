import type { UsageLine, UsageQuery } from '../log/index/usage.ts'
import type { Budget, UsageReport } from '../wire/models.ts'
import type { Index } from './ports.ts'
import { Spend } from './spend.ts'

export interface UsageReportsOptions {
  index: Pick<Index, 'usage' | 'usageTable' | 'spent'>
  budget?: () => Budget
  now?: () => number
  warn?: (message: string) => void
}

type Asked = Omit<UsageQuery, 'now'>

/**
 * What all sessions asked of models, over days of this machine's clock. Folder and preset of a request are those that its
 * session has now. Sessions in the trash are not counted; a restored one is again.
 */
export class UsageReports {
  readonly spend: Spend
  readonly #options: UsageReportsOptions

  constructor(options: UsageReportsOptions) {
    this.#options = options
    const { index, now, warn } = options
    this.spend = new Spend({ spent: (since) => index.spent(since), ...(now && { now }), ...(warn && { warn }) })
  }

  async report(query: Asked): Promise<UsageReport> {
    const { index, budget } = this.#options
    return { ...(await index.usage(this.#at(query))), budget: { ...budget?.() } }
  }

  table(query: Asked): Promise<UsageLine[]> {
    return this.#options.index.usageTable(this.#at(query))
  }

  #at(query: Asked): UsageQuery {
    const { now = Date.now } = this.#options
    return { ...query, now: now() }
  }
}
