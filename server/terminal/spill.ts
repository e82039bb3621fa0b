import { randomBytes } from 'node:crypto'
import { closeSync, constants, mkdtempSync, openSync, rmSync, writeSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { cleanText, decode, type Scrub } from './clean.ts'
import type { AgentFacts } from '../tool/tool.ts'

/** Bytes of one call's output that are kept on disk, and of all calls of one agent: the oldest files go first. */
const CALL_BYTES = 50 * 1024 * 1024
const AGENT_BYTES = 200 * 1024 * 1024
/** Bytes that are cleaned and written at once; a line longer than the second is cut. */
const BATCH = 64 * 1024
const LONGEST_LINE = 1024 * 1024

/** A file as commands name it and where it lies. */
export interface SpillPlace {
  shown: string
  real: string
}

/** `path` is what commands know it as; `whole`: nothing of the output is missing in the file. */
export interface Spilled {
  path: string
  real: string
  bytes: number
  whole: boolean
}

export interface SpillOptions {
  /** Output of at most this many bytes stays in memory alone. */
  from: number
  /** Asked when the first byte too many arrives. */
  place(): SpillPlace
  /** What to hide, in lines that hold `mark`. */
  scrub?: { mark: string; line: Scrub }
  most?: number
}

/**
 * The whole text of one call's output in a file, once it is longer than what the model reads. Written at once, so that memory
 * stays bounded whatever the command prints; a disk that refuses ends the file, never the call.
 */
export class Spill {
  readonly #options: SpillOptions
  readonly #most: number
  #held: Buffer[] = []
  #heldBytes = 0
  #file: number | undefined
  #place: SpillPlace | undefined
  #written = 0
  #whole = true
  #began = false

  constructor(options: SpillOptions) {
    this.#options = options
    this.#most = options.most ?? CALL_BYTES
  }

  push(chunk: Buffer): void {
    if (!this.#whole) return
    // A copy: a small piece would keep the large buffer alive that it was cut from.
    this.#held.push(Buffer.from(chunk))
    this.#heldBytes += chunk.length
    if (!this.#began && this.#heldBytes <= this.#options.from) return
    if (!this.#began) this.#open()
    if (this.#heldBytes >= BATCH) this.#flush(false)
  }

  /** Undefined when there is no file. `cut` false: the model has read everything, and the file goes. */
  end(cut: boolean): Spilled | undefined {
    if (!this.#began) return undefined
    this.#flush(true)
    if (this.#file !== undefined) closeSync(this.#file)
    if (this.#file === undefined || !this.#place) return undefined
    const { shown, real } = this.#place
    if (cut && this.#written > 0) return { path: shown, real, bytes: this.#written, whole: this.#whole }
    rmSync(real, { force: true })
    return undefined
  }

  #open(): void {
    this.#began = true
    try {
      this.#place = this.#options.place()
      const { O_CREAT, O_EXCL, O_WRONLY, O_NOFOLLOW } = constants
      // Exclusive: a command may have laid a link of this name into its own folder.
      this.#file = openSync(this.#place.real, O_CREAT | O_EXCL | O_WRONLY | O_NOFOLLOW, 0o600)
    } catch {
      this.#stop() // no room, or no folder: the result says nothing of a file
    }
  }

  #stop(): void {
    this.#whole = false
    this.#held = []
    this.#heldBytes = 0
  }

  #flush(all: boolean): void {
    if (this.#file === undefined || this.#heldBytes === 0) return
    const bytes = Buffer.concat(this.#held)
    const line = bytes.lastIndexOf(10) + 1
    const end = all || (line === 0 && bytes.length >= LONGEST_LINE) ? bytes.length : line
    this.#held = end < bytes.length ? [bytes.subarray(end)] : []
    this.#heldBytes = bytes.length - end
    if (end > 0) this.#write(this.#file, cleaned(bytes.subarray(0, end), this.#options.scrub))
  }

  #write(file: number, bytes: Buffer): void {
    const room = bytes.subarray(0, this.#most - this.#written)
    try {
      for (let at = 0; at < room.length;) at += writeSync(file, room, at)
      this.#written += room.length
      if (room.length < bytes.length) this.#stop()
    } catch {
      this.#stop() // the disk is full: what is written stays, and the result says that it is not all
    }
  }
}

const ESCAPES = /[\x1b\b\0]|\r(?!\n)/ // oxlint-disable-line no-control-regex -- terminal controls are the point

/** Plain text with line feeds alone needs no decoding, which is most of what is ever printed. */
function cleaned(bytes: Buffer, scrub: SpillOptions['scrub']): Buffer {
  const raw = bytes.toString('latin1')
  const hides = scrub !== undefined && raw.includes(scrub.mark)
  if (hides || ESCAPES.test(raw)) return Buffer.from(cleanText(decode(bytes), hides ? scrub.line : undefined))
  return raw.includes('\r') ? Buffer.from(raw.replaceAll('\r\n', '\n'), 'latin1') : bytes
}

interface Kept {
  folder: string | undefined
  files: { real: string; bytes: number }[]
}

const kept = new WeakMap<AgentFacts, Kept>()

/**
 * A new place for the output of this call: in a sandbox the folder that its commands see, with a plain name, so that no folder
 * on the way can be exchanged; else one that is made for the agent and goes with it.
 */
export function spillPlace(agent: AgentFacts, callId: string, files: SpillPlace | undefined): SpillPlace {
  const name = `${callId.replaceAll(/[^\w-]/g, '_').slice(0, 80)}-${randomBytes(4).toString('hex')}.log`
  if (files) return { shown: join(files.shown, name), real: join(files.real, name) }
  const path = join(folderOf(agent), name)
  return { shown: path, real: path }
}

/** Counts a file that was written for the agent; the oldest ones go when there are too many bytes. */
export function keepSpill(agent: AgentFacts, { real, bytes }: Spilled, most = AGENT_BYTES): void {
  const { files } = keptOf(agent)
  files.push({ real, bytes })
  for (let sum = files.reduce((all, each) => all + each.bytes, 0); sum > most && files.length > 1;) {
    const oldest = files.shift()!
    sum -= oldest.bytes
    rmSync(oldest.real, { force: true })
  }
}

function keptOf(agent: AgentFacts): Kept {
  const known = kept.get(agent)
  if (known) return known
  const made: Kept = { folder: undefined, files: [] }
  kept.set(agent, made)
  return made
}

function folderOf(agent: AgentFacts): string {
  const mine = keptOf(agent)
  if (mine.folder !== undefined) return mine.folder
  const folder = mkdtempSync(join(tmpdir(), 'core-web-output-'))
  mine.folder = folder
  agent.onClose(() => rm(folder, { recursive: true, force: true }))
  return folder
}

/** Where the whole output is, for the end of a sentence. */
export const spillText = ({ path, bytes, whole }: Spilled): string =>
  whole ? `all of it is in ${path}` : `the first ${bytes} bytes of it are in ${path}`
