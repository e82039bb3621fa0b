import { marked } from 'marked'
import type { MarkedToken, Token, Tokens } from 'marked'
import { memo, useMemo, useState } from 'react'
import type { ReactNode } from 'react'
import remend from 'remend'
import { CodeBlock } from './code-block.tsx'

/**
 * Model text as React elements. HTML stays text, an image is a link to it, and only web and mail addresses become links:
 * nothing that a model writes is fetched or run by itself.
 */
export const Markdown = memo(function Markdown({ text }: { text: string }) {
  const tokens = useMemo(() => lex(text), [text])
  return (
    <div className="prose">
      {tokens.map((token, index) => (
        <Block key={index} token={token} />
      ))}
    </div>
  )
})

/**
 * The same for text that still grows. Blocks before the last one are settled: they are lexed once and never again, so
 * that a long answer costs no more per frame than its last paragraph.
 */
export function StreamingMarkdown({ text }: { text: string }) {
  // Grows in place: settling the same text twice changes nothing.
  const [settled] = useState<Settled>(() => ({ length: 0, chunks: [] }))
  const tail = settle(settled, text)
  return (
    <div className="prose">
      {settled.chunks.map((tokens, index) => (
        <Chunk key={index} tokens={tokens} />
      ))}
      <div className="tail" key="tail">
        {lex(remend(tail, { linkMode: 'text-only', images: false })).map((token, index) => (
          <Block key={index} token={token} />
        ))}
      </div>
    </div>
  )
}

const Chunk = memo(function Chunk({ tokens }: { tokens: readonly Token[] }) {
  return <div className="chunk">{blocks(tokens)}</div>
})

/** Blocks that are compared as one: a long answer then costs React a few comparisons per frame, not hundreds. */
const CHUNK = 16

export interface Settled {
  /** Characters of the text that `chunks` stand for. */
  length: number
  chunks: (readonly Token[])[]
}

/** Moves what cannot change any more into `into`; returns the rest of the text. */
export function settle(into: Settled, text: string): string {
  if (text.length < into.length) {
    into.length = 0
    into.chunks = []
  }
  const rest = text.slice(into.length)
  const blank = rest.lastIndexOf('\n\n')
  if (blank < 0) return rest
  const tokens = marked.lexer(rest.replace(/\r/g, ' '))
  const last = tokens.findLastIndex((token) => token.type !== 'space')
  for (const token of tokens.slice(0, Math.max(0, last))) {
    const open = into.chunks.at(-1)
    if (open && open.length < CHUNK) into.chunks[into.chunks.length - 1] = [...open, token]
    else into.chunks.push([token])
    into.length += token.raw.length
  }
  return text.slice(into.length)
}

const lex = (text: string): Token[] => marked.lexer(text)

const Block = memo(function Block({ token }: { token: Token }): ReactNode {
  const known = token as MarkedToken
  switch (known.type) {
    case 'heading': {
      const Tag = `h${Math.min(known.depth, 4)}` as 'h1'
      return <Tag>{inline(known.tokens)}</Tag>
    }
    case 'paragraph':
      return <p>{inline(known.tokens)}</p>
    case 'code':
      return <CodeBlock code={known.text} lang={known.lang?.split(/\s/)[0]} />
    case 'blockquote':
      return <blockquote>{blocks(known.tokens)}</blockquote>
    case 'list':
      return <List list={known} />
    case 'table':
      return <Table table={known} />
    case 'hr':
      return <hr />
    case 'text':
      return known.tokens ? <>{inline(known.tokens)}</> : known.text
    case 'html':
      return known.raw.trim() === '' ? null : <p>{known.raw}</p>
    case 'space':
    case 'def':
      return null
    default:
      return token.raw
  }
})

const blocks = (tokens: readonly Token[] = []): ReactNode =>
  tokens.map((token, index) => <Block key={index} token={token} />)

function List({ list }: { list: Tokens.List }) {
  const items = list.items.map((item, index) => (
    <li key={index} className={item.task ? 'task' : undefined}>
      {item.task && <input type="checkbox" checked={item.checked === true} readOnly disabled />}
      {blocks(item.tokens.filter((token) => token.type !== 'checkbox'))}
    </li>
  ))
  return list.ordered ? <ol start={list.start === '' ? 1 : list.start}>{items}</ol> : <ul>{items}</ul>
}

function Table({ table }: { table: Tokens.Table }) {
  return (
    <div className="table">
      <table>
        <thead>
          <tr>
            {table.header.map((cell, index) => (
              <th key={index} style={{ textAlign: cell.align ?? undefined }}>
                {inline(cell.tokens)}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {table.rows.map((row, index) => (
            <tr key={index}>
              {row.map((cell, column) => (
                <td key={column} style={{ textAlign: cell.align ?? undefined }}>
                  {inline(cell.tokens)}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}

const inline = (tokens: Token[] = []): ReactNode => tokens.map((token, index) => <Inline key={index} token={token} />)

function Inline({ token }: { token: Token }): ReactNode {
  const known = token as MarkedToken
  switch (known.type) {
    case 'strong':
      return <strong>{inline(known.tokens)}</strong>
    case 'em':
      return <em>{inline(known.tokens)}</em>
    case 'del':
      return <del>{inline(known.tokens)}</del>
    case 'codespan':
      return <code>{known.text}</code>
    case 'br':
      return <br />
    case 'link':
      return <Anchor href={known.href}>{inline(known.tokens)}</Anchor>
    case 'image':
      return <Anchor href={known.href}>{known.text === '' ? known.href : known.text}</Anchor>
    case 'text':
      return known.tokens ? <>{inline(known.tokens)}</> : unescape(known.text)
    case 'escape':
      return unescape(known.text)
    default:
      return token.raw
  }
}

/** The lexer leaves named entities as written; only those that models write for plain characters are resolved. */
const ENTITIES: Record<string, string> = {
  '&amp;': '&',
  '&lt;': '<',
  '&gt;': '>',
  '&quot;': '"',
  '&#39;': "'",
  '&nbsp;': '\u00a0',
}
const unescape = (text: string): string =>
  text.replace(/&(?:amp|lt|gt|quot|#39|nbsp);/g, (entity) => ENTITIES[entity] ?? entity)

function Anchor({ href, children }: { href: string; children: ReactNode }) {
  if (!safe(href)) return <>{children}</>
  return (
    <a href={href} target="_blank" rel="noreferrer noopener">
      {children}
    </a>
  )
}

export const safe = (href: string): boolean => /^(https?:|mailto:)/i.test(href.trim())
