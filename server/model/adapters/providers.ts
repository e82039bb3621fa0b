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
  // A local server loads the model on the first call: no deadline for the first byte.
  { id: 'ollama', label: 'Ollama', wire: 'chat', baseURL: 'http://127.0.0.1:11434/v1', firstByteMs: 0, discover: true },
]

/** A person's own OpenAI-compatible endpoint; the key is optional. */
export const customProvider = (
  base: Pick<ProviderConfig, 'id' | 'label' | 'baseURL'> & Partial<ProviderConfig>,
): ProviderConfig => ({ wire: 'chat', discover: true, ...base })
