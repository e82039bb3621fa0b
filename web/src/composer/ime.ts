interface Key {
  isComposing?: boolean
  keyCode?: number
  nativeEvent?: { isComposing?: boolean; keyCode?: number }
}

/**
 * Tells whether a key belongs to an input method. Three signs, because browsers differ: `isComposing`; key code 229; and in
 * WebKit the Enter that ends a composition comes after `compositionend`, in the same task (B82).
 */
export class ImeGuard {
  #composing = false
  #justEnded = false
  readonly #defer: (call: () => void) => void

  constructor(defer: (call: () => void) => void = (call) => setTimeout(call, 0)) {
    this.#defer = defer
  }

  start = (): void => {
    this.#composing = true
  }

  end = (): void => {
    this.#composing = false
    this.#justEnded = true
    this.#defer(() => (this.#justEnded = false))
  }

  owns(event: Key): boolean {
    const native = event.nativeEvent ?? event
    return this.#composing || this.#justEnded || native.isComposing === true || native.keyCode === 229
  }
}
