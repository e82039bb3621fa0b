/** The thirteen reasons for which a filesystem operation is refused. Part of the tools' contract: rename none. */
export const FS_CODES = [
  'FS_NOT_FOUND',
  'FS_EXISTS',
  'FS_INVALID_PATH',
  'FS_NOT_REGULAR_FILE',
  'FS_NOT_TEXT',
  'FS_TOO_LARGE',
  'FS_PERMISSION',
  'FS_SANDBOX_DENIED',
  'FS_STALE_VERSION',
  'FS_NOT_OBSERVED',
  'FS_EDIT_NOT_FOUND',
  'FS_AMBIGUOUS_EDIT',
  'FS_IO',
] as const
export type FsCode = (typeof FS_CODES)[number]

/** An expected refusal. The message is written for the model: it names the path and what to do instead. */
export class FsError extends Error {
  readonly code: FsCode

  constructor(code: FsCode, message: string, options?: ErrorOptions) {
    super(message, options)
    this.name = 'FsError'
    this.code = code
  }
}

/** A place in the tree. `key` is opaque and equal for two spellings of one place; `path` is the spelling to show. */
export interface Target {
  readonly key: string
  readonly path: string
}

/** Changes whenever the content, the owner, the mode or the identity of the file may have changed. Compare, never parse. */
export type Version = string

export type FileKind = 'file' | 'directory' | 'symlink' | 'other'

export interface FileInfo {
  kind: FileKind
  /** Bytes. */
  size: number
  version: Version
  /** Permission and special bits only. */
  mode: number
  mtimeMs: number
}

export interface DirEntry {
  name: string
  kind: FileKind
}

/** `text` lacks the byte-order mark; encoding it and putting the mark back gives the exact bytes of the file. */
export interface TextFile {
  text: string
  bom: boolean
  version: Version
}

export interface CallOptions {
  signal?: AbortSignal
  /** Whose observations count; absent means that no policy applies. */
  session?: string
}

export type WriteIntent = { kind: 'createIfAbsent' } | { kind: 'replaceIfVersion'; version: Version }

export interface WriteResult {
  version: Version
  /** What the write could not keep (special mode bits), for the reader of the result. */
  notes: string[]
}

export interface EditResult extends WriteResult {
  before: TextFile
  after: TextFile
}

/**
 * What happens around the operations of one provider. The `before` hooks refuse by throwing an FsError; `observed`
 * runs after success, with `undefined` for a target that was seen to be absent.
 */
export interface FsHooks {
  beforeWrite?(event: { target: Target; intent: WriteIntent; session: string | undefined }): void | Promise<void>
  beforeEdit?(event: { target: Target; version: Version; session: string | undefined }): void | Promise<void>
  observed?(event: { target: Target; version: Version | undefined; session: string | undefined }): void
}

/** Every method throws FsError for an expected refusal and the signal's reason when aborted. */
export interface Fs {
  /** Present only on a provider that confines. */
  readonly sandboxMode?: string
  /** The real place behind an absolute path, or behind a relative one when `cwd` is given. The place may be absent. */
  resolve(path: string, cwd?: string): Promise<Target>
  /** Follows symbolic links; undefined when absent. */
  stat(target: Target, options?: CallOptions): Promise<FileInfo | undefined>
  /** What stands at the path as spelled, a symbolic link included; undefined when absent. */
  lstat(target: Target): Promise<FileInfo | undefined>
  contains(parent: Target, child: Target): boolean
  /** The whole text. FS_TOO_LARGE over `maxBytes` (10 MiB when absent). */
  readText(target: Target, options?: CallOptions & { maxBytes?: number }): Promise<TextFile>
  /** Well-formed pieces in order, cut anywhere between code points; opened on iteration. Memory: one chunk. */
  streamText(target: Target, options?: CallOptions): TextStream
  /** At most `max` bytes from the start, any content. */
  readBytes(target: Target, max: number, options?: CallOptions): Promise<Uint8Array>
  /** Entries in code-point order of their names. */
  listDir(target: Target, options?: CallOptions): Promise<DirEntry[]>
  /** All or nothing: on any failure the old content stands and no temporary file is left. */
  writeText(
    target: Target,
    file: { text: string; bom?: boolean },
    intent: WriteIntent,
    options?: CallOptions,
  ): Promise<WriteResult>
  /** Reads, applies `edit` to the text, writes if nobody else wrote in between. Edits of one place are serialised. */
  editText(target: Target, edit: (file: TextFile) => string, options?: CallOptions): Promise<EditResult>
}

/** `bom` is known once the first piece has arrived. */
export interface TextStream extends AsyncIterable<string> {
  readonly bom: boolean
}
