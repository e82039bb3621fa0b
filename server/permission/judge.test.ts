import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { Policy, Rule } from '../wire/safety.ts'
import { judge, placeKind, type Judged } from './judge.ts'
import { ruleProblem } from './rules.ts'

const POLICY: Policy = {
  sandbox: 'workspace-write',
  network: true,
  onAsk: 'prompt',
  edits: 'auto',
  commands: 'auto',
  rules: [],
  roots: ['/home/u/work', '/home/u/data/tmp/s'],
  masks: ['/home/u/data', '/home/u/.ssh'],
  guarded: ['/home/u/work/.git/hooks'],
  mounts: [['/tmp', '/home/u/data/tmp/s']],
}
const policy = (changes: Partial<Policy>): Policy => ({ ...POLICY, ...changes })
const read = (...paths: string[]): Judged => ({ toolName: 'read', class: 'read', paths })
const edit = (...paths: string[]): Judged => ({ toolName: 'edit', class: 'edit', paths })
const run = (command: string, more: Partial<Judged> = {}): Judged => ({
  toolName: 'bash',
  class: 'command',
  paths: [],
  command,
  ...more,
})
const rule = (effect: Rule['effect'], tool: string, match?: Rule['match']): Rule => ({
  id: `${effect}-${tool}`,
  effect,
  tool,
  scope: 'session',
  ...(match && { match }),
})
const prefix = (text: string) => ({ kind: 'prefix', text }) as const
const glob = (text: string) => ({ kind: 'glob', text }) as const
const short = (call: Judged, changes: Partial<Policy> = {}) => {
  const verdict = judge(call, policy(changes))
  if (verdict.kind === 'allow') return verdict.outside ? 'allow outside' : 'allow'
  return verdict.kind === 'deny' ? verdict.code : verdict.ask
}

test.each([
  ['/home/u/work', 'inside'],
  ['/home/u/work/a', 'inside'],
  ['/home/u/workshop', 'outside'],
  ['/home/u/data', 'masked'],
  ['/home/u/data/state.db', 'masked'],
  ['/home/u/data/tmp/s/x', 'temporary'],
  ['/home/u/data/tmp/other', 'masked'],
  ['/home/u/work/.git/hooks/pre-commit', 'guarded'],
  ['/home/u/work/.git/HEAD', 'inside'],
  ['/etc/passwd', 'outside'],
  ['/', 'outside'],
])('the longest folder that holds %s decides', (path, kind) => {
  expect(placeKind(path, POLICY)).toBe(kind)
})

describe('places, whatever the rules say', () => {
  const everything = { rules: [rule('allow', '*')] }
  test.each<[string, Judged, Partial<Policy>, string]>([
    ['reading outside is free', read('/etc/passwd'), {}, 'allow'],
    ['what is hidden is so for reading', read('/home/u/.ssh/id'), everything, 'MASKED'],
    ['and for editing', edit('/home/u/data/x'), everything, 'MASKED'],
    ['one hidden path of several is enough', read('/etc/a', '/home/u/.ssh/id'), {}, 'MASKED'],
    ['an edit inside', edit('/home/u/work/a'), {}, 'allow'],
    ['an edit of the own temporary files', edit('/home/u/data/tmp/s/x'), {}, 'allow'],
    ['an edit outside is asked', edit('/etc/x'), {}, 'escalate'],
    ['also where a rule allows it', edit('/etc/x'), everything, 'escalate'],
    ['a guarded file', edit('/home/u/work/.git/hooks/x'), everything, 'GUARDED'],
    ['a guarded file can be read', read('/home/u/work/.git/hooks/x'), {}, 'allow'],
    ['read-only: no edit inside', edit('/home/u/work/a'), { sandbox: 'read-only', ...everything }, 'READ_ONLY'],
    ['read-only: none outside', edit('/etc/a'), { sandbox: 'read-only' }, 'READ_ONLY'],
    ['read-only: temporary files', edit('/home/u/data/tmp/s/x'), { sandbox: 'read-only' }, 'allow'],
    ['full: nothing is hidden', edit('/home/u/.ssh/id'), { sandbox: 'full' }, 'allow'],
    ['full: nothing is outside', run('ls', { escalate: 'because' }), { sandbox: 'full' }, 'allow'],
    ['who wants out is asked', run('ls', { escalate: 'because' }), everything, 'escalate'],
    ['nobody is asked: declined', edit('/etc/x'), { onAsk: 'deny' }, 'NOT_ALLOWED'],
    ['nobody is asked: allowed, outside', edit('/etc/x'), { onAsk: 'allow' }, 'allow outside'],
    ['a rule that forbids goes before asking', edit('/etc/x'), { rules: [rule('deny', 'edit')] }, 'RULE'],
  ])('%s', (_name, call, changes, expected) => {
    expect(short(call, changes)).toBe(expected)
  })
})

describe('classes', () => {
  test.each<[Judged['class'], Partial<Policy>, string]>([
    ['read', { edits: 'ask', commands: 'ask' }, 'allow'],
    ['edit', {}, 'allow'],
    ['edit', { edits: 'ask' }, 'approve'],
    ['command', {}, 'allow'],
    ['command', { commands: 'ask' }, 'approve'],
    ['unknown', {}, 'approve'],
    ['unknown', { sandbox: 'full' }, 'allow'],
    ['edit', { edits: 'ask', onAsk: 'deny' }, 'NOT_ALLOWED'],
    ['edit', { edits: 'ask', onAsk: 'allow' }, 'allow'],
    ['command', { commands: 'ask', sandbox: 'full' }, 'approve'],
  ])('%s under %j', (kind, changes, expected) => {
    expect(short({ toolName: 'x', class: kind, paths: [] }, changes)).toBe(expected)
  })
})

describe('rules: deny before ask before allow', () => {
  const ask = { commands: 'ask', edits: 'ask' } as const
  test.each<[string, Judged, Rule[], string]>([
    ['a whole tool', run('ls'), [rule('allow', 'bash')], 'allow'],
    ['a wildcard', run('ls'), [rule('allow', 'b*h')], 'allow'],
    ['a dot is a dot', run('ls'), [rule('allow', 'b.sh')], 'approve'],
    ['another tool', run('ls'), [rule('allow', 'bas')], 'approve'],
    ['the words at the beginning', run('git status -s'), [rule('allow', 'bash', prefix('git status'))], 'allow'],
    [
      'quoted words are the same words',
      run('\'git\' "status"'),
      [rule('allow', 'bash', prefix('git status'))],
      'allow',
    ],
    ['whole words', run('git statusx'), [rule('allow', 'bash', prefix('git status'))], 'approve'],
    ['fewer words', run('git'), [rule('allow', 'bash', prefix('git status'))], 'approve'],
    [
      'a second command is not what was allowed',
      run('git status; rm -r .'),
      [rule('allow', 'bash', prefix('git status'))],
      'approve',
    ],
    ['a glob holds the whole command', run('npm run build'), [rule('allow', 'bash', glob('npm run *'))], 'allow'],
    ['and nothing less', run('xnpm run build'), [rule('allow', 'bash', glob('npm run *'))], 'approve'],
    ['a path glob', edit('/home/u/work/src/a.ts'), [rule('allow', 'edit', glob('/home/u/work/src/**'))], 'allow'],
    [
      'a path glob of one level',
      edit('/home/u/work/src/a/b.ts'),
      [rule('allow', 'edit', glob('/home/u/work/src/*.ts'))],
      'approve',
    ],
    ['a folder', edit('/home/u/work/src/a.ts'), [rule('allow', 'edit', prefix('/home/u/work/src/'))], 'allow'],
    [
      'a folder by its whole name',
      edit('/home/u/work/srcs/a.ts'),
      [rule('allow', 'edit', prefix('/home/u/work/src'))],
      'approve',
    ],
    [
      'all paths have to be allowed',
      edit('/home/u/work/a', '/home/u/work/b'),
      [rule('allow', 'edit', prefix('/home/u/work/a'))],
      'approve',
    ],
    [
      'one is enough to forbid',
      edit('/home/u/work/a', '/home/u/work/b'),
      [rule('deny', 'edit', prefix('/home/u/work/a'))],
      'RULE',
    ],
    [
      'a match needs something to match',
      { toolName: 'x', class: 'edit', paths: [] },
      [rule('allow', 'x', prefix('/'))],
      'approve',
    ],
    ['forbidding wins over allowing', run('ls'), [rule('allow', 'bash'), rule('deny', 'bash')], 'RULE'],
    ['asking wins over allowing', run('ls'), [rule('allow', 'bash'), rule('ask', 'bash')], 'approve'],
    [
      'what a prohibition cannot judge is asked',
      run('true; rm x'),
      [rule('allow', 'bash'), rule('deny', 'bash', prefix('rm'))],
      'approve',
    ],
    [
      'unless another forbids it',
      run('true; rm x'),
      [rule('deny', 'bash', prefix('rm')), rule('deny', 'bash')],
      'RULE',
    ],
  ])('%s', (_name, call, rules, expected) => {
    expect(short(call, { ...ask, rules })).toBe(expected)
  })

  test('a prohibition that cannot judge asks also where commands are free, and says why', () => {
    expect(judge(run('true; rm x'), policy({ rules: [rule('deny', 'bash', prefix('rm'))] }))).toMatchObject({
      kind: 'ask',
      ask: 'approve',
      reason: 'A rule of this session forbids bash rm …. Whether it applies cannot be told: it has a second command.',
    })
  })

  test.each([
    [{ tool: ' ' }, /names a tool/],
    [{ tool: 'bash', match: prefix('a; b') }, /a second command/],
    [{ tool: 'bash', match: prefix('git status') }, undefined],
    [{ tool: 'edit', match: prefix('/a b*') }, undefined],
    [{ tool: 'edit', match: glob('/a/**') }, undefined],
  ])('%j can match or says why not', (given, problem) => {
    const found = ruleProblem(given)
    if (problem) expect(found).toMatch(problem)
    else expect(found).toBe(undefined)
  })
})

test('no rule that allows ever opens a hidden, guarded or outside place, or a read-only session', () => {
  const path = fc.constantFrom(
    '/home/u/work/a',
    '/home/u/.ssh/id',
    '/home/u/data/x',
    '/etc/x',
    '/home/u/work/.git/hooks/h',
    '/home/u/data/tmp/s/y',
  )
  const anyRule = fc.record({
    effect: fc.constant('allow' as const),
    tool: fc.constantFrom('*', 'edit', 'e*'),
    match: fc.option(
      fc.record({
        kind: fc.constantFrom('prefix' as const, 'glob' as const),
        text: fc.constantFrom('/', '/**', '/home', '/etc/x'),
      }),
      { nil: undefined },
    ),
  })
  fc.assert(
    fc.property(
      path,
      fc.array(anyRule, { maxLength: 5 }),
      fc.constantFrom('read-only' as const, 'workspace-write' as const),
      (at, given, sandbox) => {
        const rules = given.map(({ match, ...rest }, index): Rule => ({
          ...rest,
          id: String(index),
          scope: 'host',
          ...(match && { match }),
        }))
        const without = judge(edit(at), policy({ sandbox, onAsk: 'deny' }))
        const allowed = judge(edit(at), policy({ sandbox, onAsk: 'deny', rules }))
        expect(allowed.kind).toBe(without.kind)
      },
    ),
    { numRuns: 300 },
  )
})
