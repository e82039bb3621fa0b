import { asObject, type WireSpec } from './bind.ts'

/** Google's `streamGenerateContent`. */
export const geminiWire: WireSpec = {
  keyHeaders: ['x-goog-api-key'],
  async model({ call, modelId, baseURL, apiKey, headers, fetch }) {
    const { createGoogleGenerativeAI } = await import('@ai-sdk/google')
    const { generateId } = call.deps
    const provider = createGoogleGenerativeAI({ baseURL, apiKey, headers, fetch, ...(generateId && { generateId }) })
    return { model: provider.languageModel(modelId) }
  },
  providerOptions: (call) => {
    const options = asObject(call.effort?.options)
    const thinking = asObject(options.thinkingConfig)
    const reasons = call.facts.reasoning || call.effort !== undefined
    return { google: { ...options, ...(reasons && { thinkingConfig: { includeThoughts: true, ...thinking } }) } }
  },
}
