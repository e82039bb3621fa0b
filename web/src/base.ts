/** Path below which the page is served, with a slash at its end: the server writes it onto `<html>`; alone it is the root. */
export const basePath = (): string => document.documentElement.dataset['base'] ?? '/'
