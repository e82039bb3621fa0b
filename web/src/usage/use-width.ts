import { useEffect, useRef, useState } from 'react'
import type { RefObject } from 'react'

/** The width in whole pixels of the element that gets the ref; 0 until it is measured. */
export function useWidth<E extends HTMLElement>(): [RefObject<E | null>, number] {
  const box = useRef<E>(null)
  const [width, setWidth] = useState(0)
  useEffect(() => {
    const element = box.current
    if (!element) return
    const measure = () => setWidth(Math.floor(element.clientWidth))
    measure()
    const observer = new ResizeObserver(measure)
    observer.observe(element)
    return () => observer.disconnect()
  }, [])
  return [box, width]
}
