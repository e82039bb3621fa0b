import type { WireFamily } from '../../../server/wire/messages.ts'
import type { RouteOptions } from '../../../server/wire/models.ts'

export interface Template {
  id: string
  /** A product's own name, or a wire that is named by the texts. */
  label: string
  wire: WireFamily
  baseURL: string
  keyless: boolean
  options?: RouteOptions
}

/** A model that has to be loaded first answers late: its server is waited for without a limit. */
const LOCAL: RouteOptions = { firstByteMs: 0 }

/** What a new provider is usually like; ports are those that each server listens on by its own default. */
export const TEMPLATES: readonly Template[] = [
  { id: 'compatible', label: '', wire: 'chat', baseURL: '', keyless: false },
  { id: 'openai-chat', label: 'OpenAI chat', wire: 'chat', baseURL: 'https://api.openai.com/v1', keyless: false },
  { id: 'vllm', label: 'vLLM', wire: 'chat', baseURL: 'http://127.0.0.1:8000/v1', keyless: true, options: LOCAL },
  {
    id: 'llama-cpp',
    label: 'llama.cpp',
    wire: 'chat',
    baseURL: 'http://127.0.0.1:8080/v1',
    keyless: true,
    options: LOCAL,
  },
  {
    id: 'lm-studio',
    label: 'LM Studio',
    wire: 'chat',
    baseURL: 'http://127.0.0.1:1234/v1',
    keyless: true,
    options: LOCAL,
  },
  { id: 'sglang', label: 'SGLang', wire: 'chat', baseURL: 'http://127.0.0.1:30000/v1', keyless: true, options: LOCAL },
  { id: 'responses', label: '', wire: 'responses', baseURL: '', keyless: false },
  { id: 'messages', label: '', wire: 'messages', baseURL: '', keyless: false },
  { id: 'gemini', label: '', wire: 'gemini', baseURL: '', keyless: false },
]
