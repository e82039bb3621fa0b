import type { ProviderConfig } from './config.ts'

/**
 * The providers that a fresh install offers (1.11). A key comes from the secret of the same name, set in the settings;
 * nothing is read from the environment unless a reference says `env:NAME`.
 */
export const SHIPPED_PROVIDERS: readonly ProviderConfig[] = [
  { id: 'deepseek', label: 'DeepSeek', wire: 'chat', baseURL: 'https://api.deepseek.com/v1', apiKeyRef: 'deepseek' },
  { id: 'openai', label: 'OpenAI', wire: 'responses', baseURL: 'https://api.openai.com/v1', apiKeyRef: 'openai' },
  {
    id: 'anthropic',
    label: 'Anthropic',
    wire: 'messages',
    baseURL: 'https://api.anthropic.com/v1',
    apiKeyRef: 'anthropic',
  },
  {
    id: 'google',
    label: 'Google Gemini',
    wire: 'gemini',
    baseURL: 'https://generativelanguage.googleapis.com/v1beta',
    apiKeyRef: 'google',
  },
  {
    id: 'openrouter',
    label: 'OpenRouter',
    wire: 'chat',
    baseURL: 'https://openrouter.ai/api/v1',
    apiKeyRef: 'openrouter',
  },
  // Other servers of one's own machine are looked for and added; this one is the most common.
  { id: 'ollama', label: 'Ollama', wire: 'chat', baseURL: 'http://127.0.0.1:11434/v1', discover: true },
]
