/** Identity of a visibility domain. An agent's key is the agent object; a preset generation's key is a plain object. */
export type ScopeKey = object
