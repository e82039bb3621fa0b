import { FsError, type EditResult, type Target, type Version } from '../fs.ts'

interface Entry {
  key: string
  text: string
  /** The version that the edit left; the entry is good only while the file is still at it. */
  version: Version
}

const MAX_PER_PATH = 20
/** UTF-16 units over all paths of one session. */
const MAX_TEXT = 4 * 1024 * 1024

/** The edits of one session that can be taken back, oldest first. */
export class UndoHistory {
  #entries: Entry[] = []

  record(target: Target, { before, version }: EditResult): void {
    this.#entries.push({ key: target.key, text: before.text, version })
    const ofPath = this.#entries.filter((entry) => entry.key === target.key)
    if (ofPath.length > MAX_PER_PATH) this.#drop(ofPath[0])
    let size = this.#entries.reduce((sum, entry) => sum + entry.text.length, 0)
    while (size > MAX_TEXT) size -= this.#entries.shift()?.text.length ?? size
  }

  /** FS_EDIT_NOT_FOUND when no edit of the path is left. */
  last(target: Target): Entry {
    const entry = this.#entries.findLast((each) => each.key === target.key)
    if (!entry)
      throw new FsError('FS_EDIT_NOT_FOUND', `${target.path} has no edit left to undo: there is no history for it.`)
    return entry
  }

  /** Takes `entry` off; the edit before it is now good at the version that the undo left. */
  undone(entry: Entry, version: Version): void {
    this.#drop(entry)
    const before = this.#entries.findLast((each) => each.key === entry.key)
    if (before) before.version = version
  }

  #drop(entry: Entry | undefined): void {
    this.#entries = this.#entries.filter((each) => each !== entry)
  }
}
