// Runs before the first paint, so that a picked theme never flashes the other one. A file, not inline: script-src is 'self'.
try {
  const stored = JSON.parse(localStorage.getItem('core-web.prefs') ?? '{}')
  if (stored.theme === 'light' || stored.theme === 'dark') document.documentElement.dataset.theme = stored.theme
  if (stored.language === 'zh') document.documentElement.lang = 'zh-CN'
} catch {
  // No storage, or not ours: the system's theme applies.
}
