import { marked } from 'marked'
import type { MarkedToken, Token, Tokens } from 'marked'
import { memo, useEffect, useMemo, useReducer, useRef, useState } from 'react'
import type { ReactNode } from 'react'
import remend from 'remend'
import { schedule } from '../store/live.ts'
import { CodeBlock } from './code-block.tsx'
import { begin, guessHeight, remember, reveal, take } from './settle.ts'
import type { Chunk, Settled } from './settle.ts'

interface Props {
  text: string
  /** The text still grows: its last block is shown as if it ended here. */
  grows?: boolean
  /** Under which a long text is found again when its row comes back into view. */
  id?: string
}

/**
 * Model text as React elements. HTML stays text, an image is a link to it, and only web and mail addresses become links:
 * nothing that a model writes is fetched or run by itself.
 *
 * Blocks before the last one are settled: they are lexed once and never again, and stay the same elements when the text
 * grows or ends. No frame takes in more than a slice, however much came at once.
 */
export const Markdown = memo(function Markdown({ text: raw, grows = false, id }: Props) {
  const text = useMemo(() => raw.replace(/\r\n?/g, '\n'), [raw])
  // Grows in place: settling the same text twice changes nothing.
  const [settled] = useState(() => begin(id, text))
  const place = useRef<HTMLDivElement>(null)
  const tail = take(settled, text, grows)
  const ended = !grows && settled.text === text
  const rest = useMemo(() => lex(ended ? tail : remend(tail, REMEND)), [tail, ended])
  useSlices(settled, text)
  useHeights(place, settled, id)
  const [from, to] = settled.hidden
  return (
    <div className="prose" ref={place}>
      {settled.chunks.map((tokens, index) => (
        <Part key={index} tokens={tokens} height={index >= from && index < to ? settled.heights[index] : SHOWN} />
      ))}
      {rest.length > 0 && (
        <div className={ended ? 'chunk' : 'tail'} key="tail">
          {blocks(rest)}
        </div>
      )}
    </div>
  )
})

const REMEND = { linkMode: 'text-only', images: false } as const
const SHOWN = -1

/** Renders again, a slice per frame, until all of the text is in the page. */
function useSlices(settled: Settled, text: string): void {
  const [, again] = useReducer((count: number) => count + 1, 0)
  const more = settled.text !== text || settled.hidden[1] > 0
  useEffect(() => {
    if (!more) return
    let current = true
    schedule(() => {
      if (!current) return
      reveal(settled)
      again()
    })
    return () => {
      current = false
    }
  })
}

/** Texts of fewer chunks are made anew when their row comes back. */
const LONG_CHUNKS = 3

/** Notes what the chunks of a long text take, for the next time its row comes into view. */
function useHeights(place: { current: HTMLDivElement | null }, settled: Settled, id: string | undefined): void {
  const long = settled.chunks.length >= LONG_CHUNKS
  useEffect(() => {
    const element = place.current
    if (!element || !long || id === undefined) return
    remember(id, settled)
    const observer = new ResizeObserver(() => {
      const [from, to] = settled.hidden
      settled.chunks.forEach((_, index) => {
        const part = element.children[index]
        if (part instanceof HTMLElement && !(index >= from && index < to)) settled.heights[index] = part.offsetHeight
      })
    })
    observer.observe(element)
    return () => observer.disconnect()
  }, [place, settled, id, long])
}

/** A negative height: the blocks themselves; else the room they will take, guessed when it is not known. */
const Part = memo(function Part({ tokens, height }: { tokens: Chunk; height: number | undefined }) {
  if (height === SHOWN) return <div className="chunk">{blocks(tokens)}</div>
  return <div className="chunk" style={{ height: height ?? guessHeight(tokens) }} />
})

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
